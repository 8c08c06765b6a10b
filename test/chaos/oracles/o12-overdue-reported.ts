import {
  CLOCK_TOLERANCE_MS,
  HEALTHY_BOUND_MS,
  machineSlowness,
  RECONCILE_INTERVAL_MS,
  reportDeadline,
} from './bounds';
import type { AuditedAction, Evidence, LedgerEvidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import { NamedTargets } from './named-targets';
import { unwantedRules, type UnwantedRule } from './o01-no-leak';
import { addressOf, namesInLedger, targetOf } from './rule-name';

export const overdueReported: Oracle = {
  id: 'O12',
  guarantee: 'an unwanted rule is reported within a minute, with or without holders',
  violations(evidence: Evidence, history: History): string[] {
    const { ledger, patienceMs = 0 } = evidence;
    if (!ledger) return [];
    const targets = new NamedTargets(evidence, history);
    return unwantedRules(history).flatMap((unwanted) => {
      if (isNoLongerOurs(evidence, history, unwanted) || isKnownAsChanged(ledger, unwanted)) return [];
      const latest = reportDeadline(knownAt(ledger, unwanted) + patienceMs, evidence.faults);
      if (Math.min(unwanted.until, evidence.at) <= latest) return [];
      return concerned(targets, unwanted, latest)
        .filter((organizationId) => !isReported(evidence, targets, unwanted, organizationId, latest))
        .map((organizationId) => {
          const present = ((Math.min(unwanted.until, evidence.at) - unwanted.from) / 1000).toFixed(1);
          const allowed = ((latest - unwanted.from) / 1000).toFixed(1);
          return `${unwanted.name} was unwanted and present for ${present} s, and ${organizationId} was not notified within ${allowed} s`;
        });
    });
  },
};

/** An orphan or a stale rule must be found before it can be reported. */
function knownAt({ events }: LedgerEvidence, { name, from, isUnexpected }: UnwantedRule): number {
  if (!isUnexpected) return from;
  const found = events.find(
    (event) => event.kind === 'FOUND' && event.at >= from && namesInLedger(event).includes(name),
  );
  const latest = from + RECONCILE_INTERVAL_MS + HEALTHY_BOUND_MS * machineSlowness();
  return Math.min(found?.at ?? Infinity, latest);
}

/** Another program removed the mark, and the product never recorded the rule's id. */
function isNoLongerOurs(evidence: Evidence, history: History, { name, rule }: UnwantedRule): boolean {
  if ((history.holds.get(name) ?? []).length > 0) return false;
  return evidence.presentRules.some(
    (presence) => presence.providerRuleId === rule.providerRuleId && !presence.ours,
  );
}

/** Another address or port under an id of ours: not modified, and reported as CHANGED instead. */
export const isKnownAsChanged = ({ events }: LedgerEvidence, { rule }: Pick<UnwantedRule, 'rule'>): boolean =>
  events.some(({ kind, providerRuleId }) => kind === 'CHANGED' && providerRuleId === rule.providerRuleId);

function concerned(targets: NamedTargets, unwanted: UnwantedRule, latest: number): string[] {
  const { lastHold, isUnexpected, name, from } = unwanted;
  if (lastHold && !isUnexpected) return [lastHold.organizationId];
  return [...targets.writers(targetOf(name), { from, to: latest })];
}

function isReported(
  evidence: Evidence,
  targets: NamedTargets,
  { name, from }: UnwantedRule,
  organizationId: string,
  latest: number,
): boolean {
  return evidence.audit.some(
    (record) =>
      record.eventType === 'RULE_REVOCATION_OVERDUE' &&
      record.organizationId === organizationId &&
      record.at >= from - CLOCK_TOLERANCE_MS &&
      record.at <= latest &&
      mentions(record, addressOf(name)) &&
      !targets.isNeverNamedBy(record.resourceId, targetOf(name)),
  );
}

/** Whether the record contains this address, in any field. */
export function mentions(record: Pick<AuditedAction, 'details' | 'errorMessage'>, address: string): boolean {
  const text = JSON.stringify([record.errorMessage, record.details]);
  return new RegExp(`(?<![\\w.:])${escaped(address)}(?!\\w|[.:]\\w)`).test(text);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
