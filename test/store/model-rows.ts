import type { Tx } from '#entities';
import type { Tables } from '../simulation/model/tables';

type Rows = Readonly<Record<string, unknown[][]>>;

/** Moves that settlements and comparisons write down. */
const WRITTEN_DOWN = `event_type ~ '^(SESSION_(ACTIVATED|FAILED|EXPIRED|CANCELLED)|STATIC_IP_RULE_|RULE_ORPHAN_)'`;

const byText = (one: unknown[], other: unknown[]): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

/** Every column that decides something, with moments as ms from now. @param real the database's id of a model's */
export function modelRows(tables: Tables, real: (id: string) => string): Rows {
  const fromNow = (moment: number | null): number | null =>
    moment === null ? null : Math.round(moment - tables.now());
  const rows = {
    targets: [...tables.targets.values()].map((target) => [
      target.id,
      target.leaseGeneration,
      target.lastWriteSize,
      target.reconcileRequested,
      fromNow(target.leaseUntil),
      fromNow(target.lastWriteAt),
      fromNow(target.reconcileDueAt),
      fromNow(target.inFlightUntil),
    ]),
    rules: [...tables.rules.values()].map((rule) => [
      rule.targetId,
      rule.key,
      rule.state,
      rule.isForeign,
      rule.providerRuleId,
      rule.credentialId,
      rule.revision,
      rule.attempts,
      rule.lastError,
      rule.lostCount,
      rule.closing,
      fromNow(rule.dueAt),
      fromNow(rule.inFlightUntil),
      fromNow(rule.lostAt),
      fromNow(rule.targetMissingSince),
    ]),
    resources: [...tables.resources.values()].map(({ id, isActive }) => [id, isActive]),
    sessions: [...tables.sessions.values()].map((one) => [
      real(one.id),
      one.status,
      one.endedReason,
      fromNow(one.expiresAt),
    ]),
    staticIpRules: [...tables.staticIpRules.values()].map((rule) => [real(rule.id), rule.deletedAt !== null]),
    ips: [...tables.resourceIps.values()].map((ip) => [
      real(ip.sessionId ?? ip.staticIpRuleId!),
      ip.resourceId,
      ip.status,
      ip.errorMessage,
      ip.providerRuleId,
      fromNow(ip.pendingSince),
      fromNow(ip.releasedAt),
    ]),
    budgets: [...tables.budgets].map(([key, { tokens, refilledAt }]) => [
      key,
      Math.round(tokens * 1000),
      fromNow(refilledAt),
    ]),
    audit: tables.audit.map(({ eventType, resourceId, trail }) => [eventType, real(resourceId), trail]),
  };
  return Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, list.toSorted(byText)]));
}

/** The same of the database. @param auditedFrom records of this history have a greater sequence */
export async function realRows(tx: Tx, auditedFrom: string): Promise<Rows> {
  const ms = (column: string): string =>
    `round(extract(epoch FROM ${column} - now()) * 1000)::float8 AS ${column}`;
  const rows = async (columns: string, from: string): Promise<unknown[][]> => {
    const found = await tx.query<object[]>(`SELECT ${columns} FROM ${from}`);
    return found.map((row) => Object.values<unknown>(row as Record<string, unknown>)).toSorted(byText);
  };
  return {
    targets: await rows(
      `id, lease_generation::int, last_write_size, reconcile_requested, ${ms('lease_until')}, ${ms('last_write_at')},
         ${ms('reconcile_due_at')}, ${ms('in_flight_until')}`,
      'targets',
    ),
    rules: await rows(
      `target_id, key, state, is_foreign, provider_rule_id, credential_id, revision, attempts, last_error, lost_count,
         closing, ${ms('due_at')}, ${ms('in_flight_until')}, ${ms('lost_at')}, ${ms('target_missing_since')}`,
      'rules',
    ),
    resources: await rows('id, is_active', 'resources'),
    sessions: await rows(`id, status, ended_reason, ${ms('expires_at')}`, 'sessions'),
    staticIpRules: await rows('id, deleted_at IS NOT NULL AS deleted', 'static_ip_rules'),
    ips: await rows(
      `coalesce(session_id, static_ip_rule_id) AS owner, resource_id, status, error_message, provider_rule_id,
         ${ms('pending_since')}, ${ms('released_at')}`,
      'resource_ips',
    ),
    budgets: await rows(
      `account_key, round(tokens * 1000)::float8 AS tokens, ${ms('refilled_at')}`,
      'write_budgets',
    ),
    audit: await rows(
      'event_type, resource_id, trail',
      `(SELECT event_type, resource_id::text, 'audit_records' AS trail FROM audit_records WHERE sequence > ${auditedFrom}
        UNION ALL SELECT entry->>'eventType', entry->>'resourceId', 'unwritten_audit_records'
        FROM unwritten_audit_records) AS a WHERE ${WRITTEN_DOWN}`,
    ),
  };
}
