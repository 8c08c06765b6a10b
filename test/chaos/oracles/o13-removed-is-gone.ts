import { CLOCKS_MS, readTakesMs, RECONCILE_INTERVAL_MS } from './bounds';
import type { AuditedAction, Evidence, LedgerEvent, LedgerEvidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Standing } from './history';
import { NamedTargets } from './named-targets';
import { lingering } from './o01-no-leak';
import { isKnownAsChanged, mentions } from './o12-overdue-reported';
import { addressOf, namesInLedger, targetOf, type RuleName } from './rule-name';
import { covers, type Span } from './spans';

/** "removed" as something that happened; not "to be removed", "cannot be removed", "removal scheduled". */
const SAYS_REMOVED = /(?<!\b(?:be|being|not|is|are|yet|until)\s)\bremoved\b/i;

export const removedIsGone: Oracle = {
  id: 'O13',
  promise: 'nothing is reported removed while it is present',
  violations(evidence: Evidence, history: History): string[] {
    const { ledger } = evidence;
    if (!ledger) return [];
    const targets = new NamedTargets(evidence, history);
    return [
      ...closedRows(evidence, ledger, history),
      ...removedRecords(evidence, history, targets),
      ...removedIps(ledger, history),
      ...healthEvents(ledger, history, targets),
    ];
  },
};

/** The rules of ours with this name that were present all through the span. */
const throughout = (history: History, name: RuleName, { from, to }: Span): Standing[] =>
  (history.standings.get(name) ?? []).filter(
    (standing) => standing.rule.ours && standing.from <= from && standing.to > to,
  );

/** The provider said so, or an admin did: what a read would show is not known any more. */
const isGivenUp = ({ kind, cause }: LedgerEvent): boolean =>
  kind === 'ABANDONED' || cause === 'TARGET_GONE' || cause === 'ABANDONED';

/** Between the last observation of presence and the row there has to have been a moment of absence. */
function closedRows(evidence: Evidence, { events }: LedgerEvidence, history: History): string[] {
  return events.flatMap((event) => {
    if (event.kind !== 'CLOSED' || isGivenUp(event)) return [];
    const read = event.possibleUntil ?? event.at;
    const since = Math.min(event.certainUntil ?? read - readTakesMs(read, evidence.faults), event.at);
    return namesInLedger(event)
      .filter((name) =>
        throughout(history, name, { from: since, to: event.at + CLOCKS_MS }).some(
          ({ rule }) => event.providerRuleId === null || rule.providerRuleId === event.providerRuleId,
        ),
      )
      .map((name) => `${name} is CLOSED in the ledger while it was present`);
  });
}

function removedRecords(evidence: Evidence, history: History, targets: NamedTargets): string[] {
  const unwanted = lingering(history);
  return evidence.audit.filter(saysRemoved).flatMap((record) => {
    const at = targets.at(record.resourceId ?? '', record.at);
    return unwanted
      .filter(
        ({ name, from, until }) =>
          from < record.at - CLOCKS_MS &&
          until > record.at + CLOCKS_MS &&
          (at === undefined || targetOf(name) === at) &&
          speaksOf(record, name),
      )
      .filter(({ name, from }) => !wasClosedBefore(history, name, record.at, from))
      .map(({ name }) => `${record.eventType} was recorded while ${name} was present`);
  });
}

const saysRemoved = ({ eventType, errorMessage, details }: AuditedAction): boolean =>
  eventType === 'RULE_ORPHAN_REMOVED' ||
  /^RULE_\w+_REMOVED$/.test(eventType) ||
  (eventType.startsWith('RULE_') && SAYS_REMOVED.test(JSON.stringify([errorMessage, details])));

/** The record names the rule's address, and its ports where it names the key. */
function speaksOf(record: AuditedAction, name: RuleName): boolean {
  const address = addressOf(name);
  if (!mentions(record, address)) return false;
  const keys = JSON.stringify(record.details).match(/[\da-f.:]+\/\d+ \w+ [\d*,-]+/g) ?? [];
  if (keys.length === 0) return true;
  const [provider, target] = name.split(' ');
  return keys.some((key) => {
    const [cidr, protocol, ports] = key.split(' ');
    return namesInLedger({
      provider: provider!,
      target: target!,
      address: cidr!,
      protocol: protocol!,
      ports: ports!,
    }).includes(name);
  });
}

/** Another one of the same name was removed, and this one came after it. */
const wasClosedBefore = (history: History, name: RuleName, at: number, from: number): boolean =>
  (history.standings.get(name) ?? []).some(
    (standing) => standing.to <= from + CLOCKS_MS && standing.to > at - RECONCILE_INTERVAL_MS,
  );

/** What the API shows of a holder, without another one that keeps the rule. */
function removedIps({ events }: LedgerEvidence, history: History): string[] {
  const givenUp = new Set(events.filter(isGivenUp).flatMap(namesInLedger));
  const found: string[] = [];
  for (const [name, holds] of history.holds) {
    if (givenUp.has(name)) continue;
    for (const hold of holds) {
      if (hold.isDetached) continue;
      const moves = history.ips.get(hold.ipId) ?? [];
      moves.forEach((move, index) => {
        if (move.now !== 'REMOVED' || move.seeded || move.at < hold.from) return;
        const others = holds
          .filter(({ ipId }) => ipId !== hold.ipId)
          .map(({ from, releasedAt }) => ({ from, to: releasedAt }));
        if (covers(others, move.at) || covers(others, move.at - CLOCKS_MS)) return;
        const since = moves[index - 1]?.at ?? move.at;
        if (throughout(history, name, { from: since, to: move.at + CLOCKS_MS }).length > 0)
          found.push(`${name} was shown as REMOVED while it was present`);
      });
    }
  }
  return found;
}

function healthEvents(ledger: LedgerEvidence, history: History, targets: NamedTargets): string[] {
  const unwanted = lingering(history).filter((rule) => !isKnownAsChanged(ledger, rule));
  return ledger.healthEvents.flatMap((event, index) => {
    const target = targets.at(event.resourceId, event.at);
    if (target === undefined) return [];
    if (event.eventType === 'RECONCILE_OK') {
      return unwanted
        .filter(
          ({ name, from, until }) =>
            targetOf(name) === target &&
            from < event.at - RECONCILE_INTERVAL_MS &&
            until > event.at + CLOCKS_MS,
        )
        .map(({ name }) => `RECONCILE_OK was reported while ${name} was present and unwanted`);
    }
    if (!SAYS_REMOVED.test(event.message ?? '')) return [];
    const before = ledger.healthEvents
      .slice(0, index)
      .findLast(({ resourceId }) => resourceId === event.resourceId);
    return wasAnyClosed(history, target, { from: before?.at ?? -Infinity, to: event.at })
      ? []
      : [`"${event.message}" was reported of ${target}, where nothing had been removed`];
  });
}

const wasAnyClosed = (history: History, target: string, { from, to }: Span): boolean =>
  [...history.standings].some(
    ([name, standings]) =>
      targetOf(name) === target &&
      standings.some(
        (standing) => standing.rule.ours && standing.to > from - CLOCKS_MS && standing.to <= to + CLOCKS_MS,
      ),
  );
