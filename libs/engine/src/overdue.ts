import type { EngineStore, OverdueRule } from '#engine-store';
import { AuditTrail, SYSTEM_ACTOR, type AuditEntry, type Tx } from '#entities';
import { grouped, ruleLife } from '#rules';

/** How long a rule may be unwanted and still be there before that is reported. */
export const REPORT_OVERDUE_AFTER_SECONDS = 55;

const audit = new AuditTrail();

/**
 * Records rules that have been unwanted for too long and may still be present, each once: for the organizations of its
 * holders, or, without holders, for every organization with a write-verified resource on the target.
 * @returns the ids of the recorded rules, at most `limit`
 */
export async function recordOverdue(
  tx: Tx,
  { rules: store, owners, comparisons }: Pick<EngineStore, 'rules' | 'owners' | 'comparisons'>,
  limit: number,
): Promise<string[]> {
  const { rules, now } = await store.lockUnreported(tx, REPORT_OVERDUE_AFTER_SECONDS, limit);
  if (rules.length === 0) return [];
  await store.save(tx, { rules: rules.map((rule) => ruleLife.overdue(rule, now)) });
  const ids = rules.map(({ id }) => id);
  const overdue = await owners.overdue(tx, ids);
  for (const [organization, some] of grouped(overdue, ({ organizationId }) => organizationId))
    await audit.write(tx, organization, ...some.map(revocationOverdue));
  const reports = overdue.map(({ resourceId, resourceName, organizationId, address, lastError }) => ({
    resources: [{ id: resourceId, organizationId, name: resourceName }],
    eventType: 'RECONCILE_FAILED' as const,
    needsPeople: false,
    message: `${hostOf(address)} is still open though it should be closed: ${lastError ?? 'the provider gave no reason'}`,
  }));
  await comparisons.report(tx, [
    ...new Map(reports.map((report) => [`${report.resources[0]!.id} ${report.message}`, report])).values(),
  ]);
  return ids;
}

/** A single address without its prefix length; a range unchanged. */
const hostOf = (address: string): string => address.replace(/\/(32|128)$/, '');

function revocationOverdue(rule: OverdueRule): AuditEntry {
  const { resourceId, resourceName, lastError, address, sessionId, userId, staticIpRuleId } = rule;
  return {
    ...SYSTEM_ACTOR,
    eventType: 'RULE_REVOCATION_OVERDUE',
    resourceType: 'RESOURCE',
    resourceId,
    resourceName,
    result: 'FAILURE',
    errorMessage:
      lastError ??
      `The rule is still there after ${REPORT_OVERDUE_AFTER_SECONDS} seconds; its removal is retried`,
    details: {
      target: rule.identifier,
      ipAddress: hostOf(address),
      protocol: rule.protocol,
      ports: rule.ports,
      providerRuleId: rule.providerRuleId,
      cause: rule.cause,
      unwantedSince: rule.unwantedSince.toISOString(),
      ...(sessionId ? { sessionId, userId } : {}),
      ...(staticIpRuleId ? { staticIpRuleId } : {}),
    },
  };
}
