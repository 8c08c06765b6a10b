import type { OrganizationId } from '#rules';
import {
  type ActorType,
  AUDIT_EVENT_TYPES,
  type AuditEntry,
  type AuditEventType,
  type AuditRecordEntity,
  AuditTrail,
  type Interval,
  type PreparedStatement,
  type Slice,
  type Sliced,
  type TenantStore,
  type TimedList,
  type Tx,
  auditInsert,
  auditJson,
  beginOf,
  endOf,
  execute,
  readTimedPage,
} from '#entities';
import { recordOfSeal } from './audit-chain.store';

export type AuditRecordRow = Readonly<
  Omit<AuditRecordEntity, 'organizationId' | 'sequence' | 'transactionId'>
>;

export interface AuditFilter extends Interval {
  /** only records with this user as actor or object; null: all */
  readonly concerns: string | null;
  readonly eventTypes: readonly AuditEventType[] | null;
  readonly actorEmail: string | null;
  readonly resourceId: string | null;
  /** with what follows, looked for in each record: give a time */
  readonly result?: AuditRecordRow['result'] | undefined;
  readonly actorTypes?: readonly ActorType[] | undefined;
  readonly ipAddress?: string | undefined;
}

/** up to so many event types are read in order of time each by itself */
const MAX_MERGED_TYPES = 8;

const own = (condition: string): string => `a.organization_id = $1 AND ${condition}`;

/**
 * SQL: alternatives without a record in common that together match the records with the user as actor or object. An index
 * returns each in order of time. Records of actions on a user's session name the user; denied ones do not.
 * @param user its placeholder
 */
function concerning(user: string): string[] {
  // its organization is not the constant $1: otherwise all records might be walked in order of time to find the keys' ones
  const keys = `SELECT organization_id, id FROM api_keys
    WHERE user_id = (SELECT id FROM users WHERE organization_id = $1 AND id = ${user}::uuid)`;
  const denied = `a.result = 'FAILURE' AND a.actor_type <> 'SYSTEM' AND ${user}::uuid =
    (SELECT s.user_id FROM sessions s WHERE s.organization_id = $1 AND s.id = a.resource_id)`;
  const alternatives = [
    own(`a.actor_id = ${user}::uuid`),
    `(a.organization_id, a.actor_id) IN (${keys})`,
    own(`a.resource_id = ${user}::uuid`),
    `(a.organization_id, a.resource_id) IN (${keys})`,
    own(`a.details->>'userId' = ${user}::text`),
    own(denied),
  ];
  return alternatives.map((condition, index) =>
    [condition, ...alternatives.slice(0, index).map((other) => `(${other}) IS NOT TRUE`)].join(' AND '),
  );
}

function auditList(organization: OrganizationId, filter: AuditFilter): TimedList {
  const given: [OrganizationId, ...unknown[]] = [organization];
  const add = (value: unknown): string => `$${given.push(value)}`;
  const { actorEmail, resourceId, concerns, result, actorTypes, ipAddress } = filter;
  const types = filter.eventTypes && AUDIT_EVENT_TYPES.filter((type) => filter.eventTypes!.includes(type));
  const conditions = [
    `a.timestamp >= ${add(beginOf(filter))}::timestamptz AND a.timestamp < ${add(endOf(filter))}::timestamptz`,
    ...(actorEmail === null ? [] : [`a.actor_email = ${add(actorEmail)}`]),
    ...(resourceId === null ? [] : [`a.resource_id = ${add(resourceId)}::uuid`]),
    ...(result === undefined ? [] : [`a.result = ${add(result)}`]),
    ...(actorTypes ? [`a.actor_type = ANY (${add(actorTypes)}::text[])`] : []),
    ...(ipAddress === undefined ? [] : [`a.ip_address = ${add(ipAddress)}`]),
  ];
  let alternatives = ['a.organization_id = $1'];
  if (concerns !== null) alternatives = concerning(add(concerns));
  else if (types && types.length <= MAX_MERGED_TYPES)
    alternatives = types.map((type) => own(`a.event_type = ${add(type)}`));
  if (types && (concerns !== null || types.length > MAX_MERGED_TYPES))
    conditions.push(`a.event_type = ANY (${add(types)}::text[])`);
  return {
    keys: alternatives.map(
      (alternative) => `SELECT a.timestamp AS at, a.sequence AS tie FROM audit_records a
        WHERE ${[...conditions, alternative].join(' AND ')}`,
    ),
    // OFFSET 0 keeps a plan from reading all partitions: which one has a record is not known before
    rows: `SELECT a.id, a.event_type AS "eventType", a.timestamp, a.actor_type AS "actorType", a.actor_id AS "actorId",
        a.actor_email AS "actorEmail", a.resource_type AS "resourceType", a.resource_id AS "resourceId",
        a.resource_name AS "resourceName", a.result, a.ip_address AS "ipAddress", a.error_message AS "errorMessage", a.details
      FROM page CROSS JOIN LATERAL (SELECT * FROM audit_records WHERE organization_id = $1 AND timestamp = page.at
        AND sequence = page.tie OFFSET 0) a`,
    given,
  };
}

/** of one actor, or of one type and address: repeated attempts must not fill the trail */
const MAX_FAILURES_PER_MINUTE = 10;

const WRITE_DENIED_ACTION: PreparedStatement = {
  name: 'write-denied-action',
  text: `${auditInsert('$1', '$2')}
    WHERE (SELECT count(*) FROM audit_records a
      WHERE a.organization_id = $1 AND a.timestamp > now() - interval '1 minute'
        AND a.actor_id = $3 AND a.result = 'FAILURE') < ${MAX_FAILURES_PER_MINUTE}`,
};

const WRITE_THROTTLED: PreparedStatement = {
  name: 'write-throttled-failure',
  text: `${auditInsert('$1', '$2')}
    WHERE (SELECT count(*) FROM audit_records a
      WHERE a.organization_id = $1 AND a.event_type = $3 AND a.timestamp > now() - interval '1 minute'
        AND a.ip_address IS NOT DISTINCT FROM $4) < ${MAX_FAILURES_PER_MINUTE}
      AND EXISTS (SELECT FROM organizations o WHERE o.id = $1)`,
};

export class AuditStore extends AuditTrail implements TenantStore<AuditStore> {
  /** Records a denied action, unless its actor already has ten of them within the last minute. */
  async writeDeniedAction(
    tx: Tx,
    organization: OrganizationId,
    entry: AuditEntry & { readonly result: 'FAILURE' },
  ): Promise<void> {
    await execute(tx, WRITE_DENIED_ACTION, [organization, auditJson(entry), entry.actorId]);
  }

  /**
   * Records a failure that anybody can cause without signing in, unless the organization does not exist or already has ten
   * of its type and address within the last minute: no caller uses up what others' failures are recorded in.
   */
  async writeThrottledFailure(
    tx: Tx,
    organization: OrganizationId,
    entry: AuditEntry & { readonly result: 'FAILURE' },
  ): Promise<void> {
    const { eventType, ipAddress } = entry;
    await execute(tx, WRITE_THROTTLED, [organization, auditJson(entry), eventType, ipAddress]);
  }

  /** Newest first; equal timestamps by descending sequence. */
  list(
    tx: Tx,
    organization: OrganizationId,
    filter: AuditFilter,
    slice: Slice,
  ): Promise<Sliced<AuditRecordRow>> {
    return readTimedPage(tx, auditList(organization, filter), slice);
  }
}

/** A record as GET /audit-logs shows it, `timestamp` in ISO 8601. */
export type FeedRecord = Readonly<
  Omit<AuditRecordEntity, 'organizationId' | 'sequence' | 'transactionId' | 'timestamp'>
> & { readonly timestamp: string };

/** A place in an organization's chain. */
export interface FeedItem {
  readonly position: string;
  /** null: it was exported, and is no longer in the database */
  readonly record: FeedRecord | null;
}

/** SQL: the position of an organization's newest sealed record. */
export const feedEnd = (organization: string): string =>
  `coalesce((SELECT position FROM audit_seals WHERE organization_id = ${organization} ORDER BY position DESC LIMIT 1), 0)`;

const FEED_RECORD = `jsonb_build_object('id', r.id, 'eventType', r.event_type,
    'timestamp', to_char(r.timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'actorType', r.actor_type,
    'actorId', r.actor_id, 'actorEmail', r.actor_email, 'resourceType', r.resource_type, 'resourceId', r.resource_id,
    'resourceName', r.resource_name, 'result', r.result, 'ipAddress', r.ip_address, 'errorMessage', r.error_message,
    'details', r.details)`;

/**
 * The audit trail for those who tell others about it. An organization's records have positions without gaps, in the order in
 * which they were sealed: a consumer that keeps the position of the last one it has passed on misses none, and passes on none before
 * its time. A consumer without new records reads one entry of an index.
 */
export class AuditFeed implements TenantStore<AuditFeed> {
  /** The records after a position, in order. */
  after(tx: Tx, organization: OrganizationId, position: string, limit: number): Promise<FeedItem[]> {
    return tx.query(
      `SELECT s.position::text, found.record
       FROM (SELECT * FROM audit_seals WHERE organization_id = $1 AND position > $2 ORDER BY position LIMIT $3) s
       ${recordOfSeal(FEED_RECORD)}
       ORDER BY s.position`,
      [organization, position, limit],
    );
  }

  /** The record at a position; null: it is no longer in the database. */
  async at(tx: Tx, organization: OrganizationId, position: string): Promise<FeedRecord | null> {
    const [item] = await this.after(tx, organization, String(BigInt(position) - 1n), 1);
    return item?.position === position ? item.record : null;
  }
}
