import type { AccessItem, AccessReport, Evidence, LedgerEvidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Standing } from './history';
import { NamedTargets } from './named-targets';
import { byOutsideHand, namesInLedger, targetOf, type RuleName } from './rule-name';

/** The database and the simulator are processes of one machine with one clock. */
const TOLERANCE_MS = 20;

export const reportMatchesTimeline: Oracle = {
  id: 'O14',
  promise: 'the access report at a time matches the timeline at that time',
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
    .filter((name) => !(history.standings.get(name) ?? []).some((standing) => isPresent(standing, at)))
    .map((name) => `${name} is certain at ${moment(evidence, at)} and was not present`);
}

const isPresent = ({ from, to }: Standing, at: number): boolean =>
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
  return [...history.standings].flatMap(([name, standings]) => {
    if (targetOf(name) !== target || possible.has(name)) return [];
    const missing = standings.some(
      (standing) =>
        standing.from + TOLERANCE_MS < at &&
        at < standing.to - TOLERANCE_MS &&
        isKnowable(standing, name, evidence, history, ledger),
    );
    return missing ? [`${name} was present at ${moment(evidence, at)} and is not in the report`] : [];
  });
}

/** A rule of another program that came and went between two comparisons can be in no report. */
function isKnowable(
  { from, to, rule }: Standing,
  name: RuleName,
  evidence: Evidence,
  history: History,
  { comparedAt }: LedgerEvidence,
): boolean {
  const isOwn = rule.ours && history.holds.has(name) && !byOutsideHand(evidence.outsideHands, name);
  if (isOwn) return true;
  const target = evidence.targets.find(
    ({ provider, identifier }) => `${provider} ${identifier}` === targetOf(name),
  );
  const compared = comparedAt.get(target?.id ?? '');
  return compared !== undefined && from < compared - READ_TAKES_MS && compared < to;
}

/** A comparison is dated when it is settled: its read came before. */
const READ_TAKES_MS = 10_000;

const moment = ({ begunAt }: Evidence, at: number): string =>
  `${new Date(at).toISOString()} (${((at - begunAt) / 1000).toFixed(2)} s after the watch began)`;
