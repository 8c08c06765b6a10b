import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Presence } from './history';
import { wasChangedOutside, nameInCloud } from './rule-name';
import { covers } from './spans';

export const exactCount: Oracle = {
  id: 'O3',
  guarantee: 'a rule is present exactly while it has a holder, and once',
  violations(evidence: Evidence, history: History): string[] {
    const twice = [...history.presences].flatMap(([name, presences]) =>
      overlap(presences.filter(({ rule }) => rule.ours)) ? [`${name} was present twice`] : [],
    );
    return evidence.atRest ? [...twice, ...atRest(evidence, history)] : twice;
  },
};

function overlap(presences: readonly Presence[]): boolean {
  const ordered = presences.toSorted((a, b) => a.from - b.from);
  return ordered.some((presence, index) => presence.from < (ordered[index - 1]?.to ?? -Infinity));
}

/** When nothing is due, the cloud, the holders and the state in the database match. */
function atRest(evidence: Evidence, history: History): string[] {
  const found: string[] = [];
  const presentNames = new Set(evidence.presentRules.map(nameInCloud));
  const ours = new Set(evidence.presentRules.filter((rule) => rule.ours).map(nameInCloud));
  for (const name of ours) {
    const held = covers(history.holds.get(name) ?? [], evidence.at);
    if (!held && !wasChangedOutside(evidence.outsideChanges, name))
      found.push(`${name} is present without a holder`);
  }
  for (const [name, holds] of history.holds) {
    const applied = holds.some((hold) => covers(hold.applied, evidence.at));
    if (applied && !presentNames.has(name) && !wasChangedOutside(evidence.outsideChanges, name))
      found.push(`${name} has a holder and is not present`);
  }
  for (const [ruleId, moves] of history.rules) {
    const name = history.ruleNames.get(ruleId);
    const state = moves.at(-1)!.now;
    if (!name || state === null || wasChangedOutside(evidence.outsideChanges, name)) continue;
    if ((state === 'present' && !presentNames.has(name)) || (state === 'absent' && ours.has(name)))
      found.push(`${name} is ${state} in the database, but not in the cloud`);
  }
  return found;
}
