import type { Tx } from '#entities';
import type { Tables } from '../simulation/model/tables';

type Rows = Readonly<Record<string, unknown[][]>>;

/** Moves that settlements and comparisons write down. */
const WRITTEN_DOWN = `event_type ~ '^(SESSION_(ACTIVATED|FAILED|EXPIRED|CANCELLED)|STATIC_IP_RULE_|RULE_)'`;

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
      target.promptWrites,
      target.reconcileRequested,
      fromNow(target.leaseUntil),
      fromNow(target.lastWriteAt),
      fromNow(target.reconcileDueAt),
      fromNow(target.inFlightUntil),
      target.comparedAt !== null,
      target.unmanagedDigest,
    ]),
    rules: [...tables.rules.values()].map((rule) => [
      rule.targetId,
      rule.key,
      rule.state,
      rule.isUnmanaged,
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
      rule.cause,
      fromNow(rule.unwantedSince),
      fromNow(rule.overdueAt),
      rule.possibleSince !== null,
      rule.presentSince !== null,
      rule.observedAt !== null,
      rule.removalSentAt !== null,
      rule.isMissing,
      rule.isUnmarked,
      rule.isSuspended,
      rule.accountedTo,
    ]),
    holders: tables.allHolders().map((holder) => {
      const rule = tables.rules.get(holder.ruleId)!;
      const ip = tables.resourceIps.get(holder.resourceIpId)!;
      return [
        rule.targetId,
        rule.key,
        real(ip.sessionId ?? ip.staticIpRuleId!),
        ip.resourceId,
        holder.cause,
        fromNow(holder.releasedAt),
        holder.releaseCause,
      ];
    }),
    unmanaged: tables.unmanaged.map((rule) => [
      rule.targetId,
      rule.key,
      rule.providerRuleId,
      rule.possibleSince !== null,
    ]),
    sweeper: (tables.sweeper ? [tables.sweeper] : []).map(({ workerId, leaseUntil, othersSeenAt }) => [
      workerId,
      fromNow(leaseUntil),
      fromNow(othersSeenAt),
    ]),
    health: [...tables.health].flatMap(([id, events]) =>
      events.map(({ eventType, message }) => [id, eventType, message]),
    ),
    events: tables.events.map((event) => [
      event.kind,
      event.targetId,
      `${event.address} ${event.protocol} ${event.ports}`,
      event.providerRuleId,
      event.cause,
      event.message,
      event.possibleFrom !== null,
      event.certainFrom !== null,
      event.certainUntil !== null,
      event.possibleUntil !== null,
      event.holderKind,
      event.organizationId,
      event.resourceId,
      event.resourceName,
      event.sessionId && real(event.sessionId),
      event.staticIpRuleId && real(event.staticIpRuleId),
      event.credentialId,
    ]),
    resources: [...tables.resources.values()].map((one) => [
      one.id,
      one.isActive,
      one.writeVerified,
      one.targetId,
      one.credentialId,
    ]),
    sessions: [...tables.sessions.values()].map((one) => [
      real(one.id),
      one.status,
      one.endedReason,
      fromNow(one.expiresAt),
      fromNow(one.leaseUntil),
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
      ip.givenUp,
      ip.stillAllowedBy,
    ]),
    budgets: [...tables.budgets].map(([key, { tokens, refilledAt }]) => [
      key,
      Math.round(tokens * 1000),
      fromNow(refilledAt),
    ]),
    audit: tables.audit.map(({ eventType, resourceId }) => [eventType, real(resourceId)]),
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
      `id, lease_generation::int, last_write_size, prompt_writes, reconcile_requested, ${ms('lease_until')}, ${ms('last_write_at')},
         ${ms('reconcile_due_at')}, ${ms('in_flight_until')}, compared_at IS NOT NULL AS compared, unmanaged_digest`,
      'targets',
    ),
    rules: await rows(
      `target_id, key, state, is_unmanaged, provider_rule_id, credential_id, revision, attempts, last_error, lost_count,
         closing, ${ms('due_at')}, ${ms('in_flight_until')}, ${ms('lost_at')}, ${ms('target_missing_since')},
         cause, ${ms('unwanted_since')}, ${ms('overdue_at')}, possible_since IS NOT NULL AS possible,
         present_since IS NOT NULL AS present, observed_at IS NOT NULL AS observed, removal_sent_at IS NOT NULL AS sent, is_missing,
         is_unmarked, is_suspended, accounted_to`,
      'rules',
    ),
    holders: await rows(
      `target_id, key, coalesce(session_id, static_ip_rule_id) AS owner, resource_id, h.cause,
         round(extract(epoch FROM h.released_at - now()) * 1000)::float8 AS released, release_cause`,
      `rule_holders h JOIN rules r ON r.id = h.rule_id JOIN resource_ips ip ON ip.id = h.resource_ip_id`,
    ),
    unmanaged: await rows(
      'target_id, key, provider_rule_id, possible_since IS NOT NULL AS possible',
      'unmanaged_rules',
    ),
    sweeper: await rows(`worker_id, ${ms('lease_until')}, ${ms('others_seen_at')}`, 'sweeper_lease'),
    health: await rows('resource_id, event_type, message', 'resource_health_events'),
    events: await rows(
      `kind, target_id, address || ' ' || protocol || ' ' || ports AS key, provider_rule_id, cause, message,
         possible_from IS NOT NULL AS pf, certain_from IS NOT NULL AS cf, certain_until IS NOT NULL AS cu,
         possible_until IS NOT NULL AS pu, holder_kind, organization_id, resource_id, resource_name, session_id,
         static_ip_rule_id, credential_id`,
      'rule_events',
    ),
    resources: await rows('id, is_active, write_verified, target_id, credential_id', 'resources'),
    sessions: await rows(`id, status, ended_reason, ${ms('expires_at')}, ${ms('lease_until')}`, 'sessions'),
    staticIpRules: await rows('id, deleted_at IS NOT NULL AS deleted', 'static_ip_rules'),
    ips: await rows(
      `coalesce(session_id, static_ip_rule_id) AS owner, resource_id, status, error_message, provider_rule_id,
         ${ms('pending_since')}, ${ms('released_at')}, given_up, still_allowed_by`,
      'resource_ips',
    ),
    budgets: await rows(
      `account_key, round(tokens * 1000)::float8 AS tokens, ${ms('refilled_at')}`,
      'write_budgets',
    ),
    audit: await rows(
      'event_type, resource_id',
      `audit_records WHERE sequence > ${auditedFrom} AND ${WRITTEN_DOWN}`,
    ),
  };
}
