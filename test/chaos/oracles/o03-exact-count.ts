import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Standing } from './history';
import { byOutsideHand, nameInCloud } from './rule-name';
import { covers } from './spans';

export const exactCount: Oracle = {
  id: 'O3',
  promise: 'a rule stands exactly while somebody holds it, and once',
  violations(evidence: Evidence, history: History): string[] {
    const twice = [...history.standings].flatMap(([name, standings]) =>
      overlap(standings.filter(({ rule }) => rule.ours)) ? [`${name} stood twice`] : [],
    );
    return evidence.atRest ? [...twice, ...atRest(evidence, history)] : twice;
  },
};

function overlap(standings: readonly Standing[]): boolean {
  const ordered = standings.toSorted((a, b) => a.from - b.from);
  return ordered.some((standing, index) => standing.from < (ordered[index - 1]?.to ?? -Infinity));
}

/** When nothing is due, the cloud, the holders and the database's own opinion are the same. */
function atRest(evidence: Evidence, history: History): string[] {
  const found: string[] = [];
  const standing = new Set(evidence.standing.map(nameInCloud));
  const ours = new Set(evidence.standing.filter((rule) => rule.ours).map(nameInCloud));
  for (const name of ours) {
    const held = covers(history.holds.get(name) ?? [], evidence.at);
    if (!held && !byOutsideHand(evidence.outsideHands, name))
      found.push(`${name} stands and nobody holds it`);
  }
  for (const [name, holds] of history.holds) {
    const applied = holds.some((hold) => covers(hold.applied, evidence.at));
    if (applied && !standing.has(name) && !byOutsideHand(evidence.outsideHands, name))
      found.push(`${name} is held and does not stand`);
  }
  for (const [ruleId, moves] of history.rules) {
    const name = history.ruleNames.get(ruleId);
    const state = moves.at(-1)!.now;
    if (!name || state === null || byOutsideHand(evidence.outsideHands, name)) continue;
    if ((state === 'present' && !standing.has(name)) || (state === 'absent' && ours.has(name)))
      found.push(`${name} is ${state} in the database, in the cloud it is not`);
  }
  return found;
}
