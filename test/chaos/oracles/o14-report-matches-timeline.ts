import type { AccessItem, AccessReport, Evidence, LedgerEvidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Presence } from './history';
import { NamedTargets } from './named-targets';
import { wasChangedOutside, namesInLedger, targetOf, type RuleName } from './rule-name';

/** The database and the simulator share the clock of one machine. */
const TOLERANCE_MS = 20;

export const reportMatchesTimeline: Oracle = {
  id: 'O14',
  guarantee: 'the access report at a time matches the timeline at that time',
  violations(evidence: Evidence, history: History): string[] {
    const { ledger } = evidence;
    if (!ledger) return [];
    const targets = new NamedTargets(evidence, history);
    return ledger.reports.flatMap((report) => [
      ...wronglyCertain(report, evidence, history),
      ...(report.isWhole ? uncovered(report, evidence, history, targets, ledger) : []),
    ]);
  },
};

const isCertain = ({ certainFrom, certainUntil }: AccessItem, at: number): boolean =>
  certainFrom !== null && certainUntil !== null && certainFrom <= at && at <= certainUntil;

const isPossible = ({ possibleFrom, possibleUntil }: AccessItem, at: number): boolean =>
  (possibleFrom ?? -Infinity) - TOLERANCE_MS <= at && at <= (possibleUntil ?? Infinity) + TOLERANCE_MS;

function wronglyCertain({ items, at }: AccessReport, evidence: Evidence, history: History): string[] {
  return items
    .filter((item) => isCertain(item, at))
    .flatMap(namesInLedger)
    .filter((name) => !(history.presences.get(name) ?? []).some((presence) => isPresent(presence, at)))
    .map((name) => `${name} is certain at ${moment(evidence, at)} and was not present`);
}

const isPresent = ({ from, to }: Presence, at: number): boolean =>
  from - TOLERANCE_MS <= at && at <= to + TOLERANCE_MS;

function uncovered(
  { resourceId, items, at }: AccessReport,
  evidence: Evidence,
  history: History,
  targets: NamedTargets,
  ledger: LedgerEvidence,
): string[] {
  const target = targets.at(resourceId, at);
  if (target === undefined) return [];
  const possible = new Set(items.filter((item) => isPossible(item, at)).flatMap(namesInLedger));
  return [...history.presences].flatMap(([name, presences]) => {
    if (targetOf(name) !== target || possible.has(name)) return [];
    const missing = presences.some(
      (presence) =>
        presence.from + TOLERANCE_MS < at &&
        at < presence.to - TOLERANCE_MS &&
        isDetectable(presence, name, evidence, history, ledger),
    );
    return missing ? [`${name} was present at ${moment(evidence, at)} and is not in the report`] : [];
  });
}

/** Whether the product could know the rule: one of another program must be present at a comparison. */
function isDetectable(
  { from, to, rule }: Presence,
  name: RuleName,
  evidence: Evidence,
  history: History,
  { comparedAt }: LedgerEvidence,
): boolean {
  const isOwn = rule.ours && history.holds.has(name) && !wasChangedOutside(evidence.outsideChanges, name);
  if (isOwn) return true;
  const target = evidence.targets.find(
    ({ provider, identifier }) => `${provider} ${identifier}` === targetOf(name),
  );
  const compared = comparedAt.get(target?.id ?? '');
  return compared !== undefined && from < compared - MAX_READ_MS && compared < to;
}

/** A comparison has the time of its settlement: its read was earlier. */
const MAX_READ_MS = 10_000;

const moment = ({ begunAt }: Evidence, at: number): string =>
  `${new Date(at).toISOString()} (${((at - begunAt) / 1000).toFixed(2)} s after the watch began)`;
