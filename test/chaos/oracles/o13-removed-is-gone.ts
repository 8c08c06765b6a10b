import { CLOCK_TOLERANCE_MS, maxReadMs, RECONCILE_INTERVAL_MS } from './bounds';
import type { AuditedAction, Evidence, LedgerEvidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Presence } from './history';
import { NamedTargets } from './named-targets';
import { unwantedRules } from './o01-no-leak';
import { isKnownAsChanged, mentions } from './o12-overdue-reported';
import { addressOf, namesInLedger, targetOf, type RuleName } from './rule-name';
import { covers, type Span } from './spans';

/** "removed" as a completed action; not "to be removed", "cannot be removed", "removal scheduled". */
const SAYS_REMOVED = /(?<!\b(?:be|being|not|is|are|yet|until)\s)\bremoved\b/i;

export const removedIsGone: Oracle = {
  id: 'O13',
  guarantee: 'nothing is reported removed while it is present',
  violations(evidence: Evidence, history: History): string[] {
    const { ledger } = evidence;
    if (!ledger) return [];
    const targets = new NamedTargets(evidence, history);
    return [
      ...closedRows(evidence, ledger, history),
      ...removedRecords(evidence, history, targets),
      ...removedIps(history),
      ...healthEvents(ledger, history, targets),
    ];
  },
};

/** The rules of ours with this name that were present during the whole span. */
const throughout = (history: History, name: RuleName, { from, to }: Span): Presence[] =>
  (history.presences.get(name) ?? []).filter(
    (presence) => presence.rule.ours && presence.from <= from && presence.to > to,
  );

/** The rule must have been absent at some moment between its last observation and the row. */
function closedRows(evidence: Evidence, { events }: LedgerEvidence, history: History): string[] {
  return events.flatMap((event) => {
    if (event.kind !== 'CLOSED') return [];
    const read = event.possibleUntil ?? event.at;
    const since = Math.min(event.certainUntil ?? read - maxReadMs(read, evidence.faults), event.at);
    return namesInLedger(event)
      .filter((name) =>
        throughout(history, name, { from: since, to: event.at + CLOCK_TOLERANCE_MS }).some(
          ({ rule }) => event.providerRuleId === null || rule.providerRuleId === event.providerRuleId,
        ),
      )
      .map((name) => `${name} is CLOSED in the ledger while it was present`);
  });
}

function removedRecords(evidence: Evidence, history: History, targets: NamedTargets): string[] {
  const unwanted = unwantedRules(history);
  return evidence.audit.filter(saysRemoved).flatMap((record) => {
    const at = targets.at(record.resourceId ?? '', record.at);
    return unwanted
      .filter(
        ({ name, from, until }) =>
          from < record.at - CLOCK_TOLERANCE_MS &&
          until > record.at + CLOCK_TOLERANCE_MS &&
          (at === undefined || targetOf(name) === at) &&
          concerns(record, name),
      )
      .filter(({ name, from }) => !wasClosedBefore(history, name, record.at, from))
      .map(({ name }) => `${record.eventType} was recorded while ${name} was present`);
  });
}

const saysRemoved = ({ eventType, errorMessage, details }: AuditedAction): boolean =>
  eventType === 'RULE_ORPHAN_REMOVED' ||
  /^RULE_\w+_REMOVED$/.test(eventType) ||
  (eventType.startsWith('RULE_') && SAYS_REMOVED.test(JSON.stringify([errorMessage, details])));

/** Whether the record contains the rule's address, and its ports if it contains rule keys. */
function concerns(record: AuditedAction, name: RuleName): boolean {
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

/** Whether an earlier rule of the same name was removed, and this one was added after it. */
const wasClosedBefore = (history: History, name: RuleName, at: number, from: number): boolean =>
  (history.presences.get(name) ?? []).some(
    (presence) => presence.to <= from + CLOCK_TOLERANCE_MS && presence.to > at - RECONCILE_INTERVAL_MS,
  );

/** ResourceIps shown as REMOVED, unless another holder keeps the rule. */
function removedIps(history: History): string[] {
  const found: string[] = [];
  for (const [name, holds] of history.holds) {
    for (const hold of holds) {
      if (hold.isDetached) continue;
      const moves = history.ips.get(hold.ipId) ?? [];
      moves.forEach((move, index) => {
        if (move.now !== 'REMOVED' || move.seeded || move.at < hold.from) return;
        const others = holds
          .filter(({ ipId }) => ipId !== hold.ipId)
          .map(({ from, releasedAt }) => ({ from, to: releasedAt }));
        if (covers(others, move.at) || covers(others, move.at - CLOCK_TOLERANCE_MS)) return;
        const since = moves[index - 1]?.at ?? move.at;
        if (throughout(history, name, { from: since, to: move.at + CLOCK_TOLERANCE_MS }).length > 0)
          found.push(`${name} was shown as REMOVED while it was present`);
      });
    }
  }
  return found;
}

function healthEvents(ledger: LedgerEvidence, history: History, targets: NamedTargets): string[] {
  const unwanted = unwantedRules(history).filter((rule) => !isKnownAsChanged(ledger, rule));
  return ledger.healthEvents.flatMap((event, index) => {
    const target = targets.at(event.resourceId, event.at);
    if (target === undefined) return [];
    if (event.eventType === 'RECONCILE_OK') {
      return unwanted
        .filter(
          ({ name, from, until }) =>
            targetOf(name) === target &&
            from < event.at - RECONCILE_INTERVAL_MS &&
            until > event.at + CLOCK_TOLERANCE_MS,
        )
        .map(({ name }) => `RECONCILE_OK was reported while ${name} was present and unwanted`);
    }
    if (!SAYS_REMOVED.test(event.message ?? '')) return [];
    const before = ledger.healthEvents
      .slice(0, index)
      .findLast(({ resourceId }) => resourceId === event.resourceId);
    return wasAnyClosed(history, target, { from: before?.at ?? -Infinity, to: event.at })
      ? []
      : [`"${event.message}" was reported of ${target}, where no rule was removed`];
  });
}

const wasAnyClosed = (history: History, target: string, { from, to }: Span): boolean =>
  [...history.presences].some(
    ([name, presences]) =>
      targetOf(name) === target &&
      presences.some(
        (presence) =>
          presence.rule.ours &&
          presence.to > from - CLOCK_TOLERANCE_MS &&
          presence.to <= to + CLOCK_TOLERANCE_MS,
      ),
  );
