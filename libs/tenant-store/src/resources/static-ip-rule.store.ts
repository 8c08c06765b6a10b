import { randomUUID } from 'node:crypto';
import {
  definedFields,
  STATIC_IP_RULE_STATUSES,
  type AdditionCause,
  type IpVersion,
  type OrganizationId,
  type ResourceIpStatus,
} from '#rules';
import {
  closeStaticRules,
  release,
  hold,
  isOnlyTried,
  desiredRules,
  type DesiredRules,
  type WokenTargets,
  desiredRulesJson,
  wokenTargets,
} from '#engine-store/port';
import {
  HOLDING,
  LEAVING,
  StaticIpRuleEntity,
  type ListDefinition,
  type TenantStore,
  Trial,
  type Tx,
  choiceFilter,
  idFilter,
  insertRow,
  rows,
  touches,
} from '#entities';
import { ListedStore } from '../listed-store';

interface StaticIpRuleEntryRow {
  readonly resourceId: string;
  readonly resourceName: string;
  readonly status: ResourceIpStatus;
  /** ISO 8601 */
  readonly appliedAt: string | null;
  readonly errorMessage: string | null;
}

export interface StaticIpRuleRow extends Readonly<
  Pick<
    StaticIpRuleEntity,
    | 'id'
    | 'label'
    | 'ipAddress'
    | 'createdByEmail'
    | 'createdAt'
    | 'expiresAt'
    | 'reviewBy'
    | 'reviewedAt'
    | 'reviewedByEmail'
  >
> {
  /** where it opens again: when the lockdown that has closed it is lifted, or when it is extended; null: it is not closed */
  readonly closedOn: readonly { readonly resourceId: string; readonly resourceName: string }[] | null;
  /** whether its end has passed */
  readonly hasEnded: boolean;
  /** without those being removed */
  readonly resources: StaticIpRuleEntryRow[];
}

/** One resource to apply a static IP rule to, and the cloud rules this needs. */
export interface NewEntry extends Omit<DesiredRules, 'resourceIpId'> {
  readonly resourceId: string;
  readonly resourceName: string;
}

/** SQL: by the clock of the statement, which may have waited for a lock. */
const HAS_ENDED = 'coalesce(s.expires_at <= clock_timestamp(), false)';

const SELECT = `SELECT s.id, s.label, s.ip_address AS "ipAddress", s.created_by_email AS "createdByEmail",
    s.created_at AS "createdAt", s.expires_at AS "expiresAt", ${HAS_ENDED} AS "hasEnded",
    s.review_by AS "reviewBy", s.reviewed_at AS "reviewedAt", s.reviewed_by_email AS "reviewedByEmail",
    CASE WHEN s.closed_on IS NOT NULL THEN ARRAY(
      SELECT jsonb_build_object('resourceId', r.id, 'resourceName', r.name) FROM resources r
      WHERE r.id = ANY (s.closed_on) AND r.deleted_at IS NULL ORDER BY r.name, r.id) END AS "closedOn",
    ARRAY(SELECT jsonb_build_object('resourceId', ip.resource_id,
        'resourceName', coalesce(r.name, ip.resource_name), 'status', ip.status, 'appliedAt', ip.applied_at,
        'errorMessage', ip.error_message)
      FROM resource_ips ip LEFT JOIN resources r ON r.id = ip.resource_id
      WHERE ip.static_ip_rule_id = s.id AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL
      ORDER BY coalesce(r.name, ip.resource_name), ip.id) AS resources
  FROM static_ip_rules s WHERE s.organization_id = $1 AND s.deleted_at IS NULL`;

/** SQL: an entry that the rule shows, see `SELECT`. @param more conditions */
const shownEntry = (
  more = '',
): string => `EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = s.id
    AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL ${more})`;

const withEntry = (status: ResourceIpStatus): string => shownEntry(`AND ip.status = '${status}'`);

/** As `overallStatus`. */
const STATUS = `CASE WHEN s.closed_on IS NOT NULL AND ${HAS_ENDED} THEN 'EXPIRED' WHEN s.closed_on IS NOT NULL THEN 'CLOSED' WHEN ${withEntry('PENDING')} THEN 'PENDING'
    WHEN NOT ${withEntry('FAILED')} THEN 'ACTIVE' WHEN ${withEntry('APPLIED')} THEN 'PARTIAL' ELSE 'FAILED' END`;

export const STATIC_IP_RULE_LIST: ListDefinition = {
  list: SELECT,
  id: 's.id',
  search: ['s.label', 's.ip_address', 's.created_by_email'],
  sort: { label: 's.label', createdAt: 's.created_at' },
  order: '-createdAt',
  filters: {
    resourceId: idFilter(shownEntry('AND ip.resource_id = ?')),
    status: choiceFilter(STATUS, [...STATIC_IP_RULE_STATUSES, 'CLOSED', 'EXPIRED']),
    contains: { kind: 'address', where: 's.ip_address::inet >>= ?::inet' },
  },
};

/** SQL: a rule that is closed, and whose end is to come, or was put off. */
const IS_TO_REOPEN = `closed_on IS NOT NULL AND deleted_at IS NULL AND coalesce(expires_at > clock_timestamp(), true)`;

export interface ClosedRuleRow extends Pick<StaticIpRuleRow, 'id' | 'ipAddress'> {
  readonly resourceIds: string[];
}

/** A resource's static ranges of one IP version. */
export interface ResourceRangesRow {
  readonly resourceId: string;
  readonly resourceName: string;
  /** CIDRs */
  readonly ranges: string[];
}

/** Static IP rules. Callers of the writers must have locked the resources with `ResourceStore.lockTargets`. */
export class StaticIpRuleStore
  extends ListedStore<StaticIpRuleRow>
  implements TenantStore<StaticIpRuleStore>
{
  protected readonly definition = STATIC_IP_RULE_LIST;

  /** As `find`, locked until the transaction ends. */
  async lock(tx: Tx, organization: OrganizationId, id: string): Promise<StaticIpRuleRow | null> {
    await tx.query('SELECT 1 FROM static_ip_rules WHERE organization_id = $1 AND id = $2 FOR UPDATE', [
      organization,
      id,
    ]);
    return this.find(tx, organization, id);
  }

  /**
   * Serializes additions in the organization, with each other and with a lockdown, until the transaction ends. Take it
   * before locks on resources and rules.
   * @returns false while the organization is locked down
   */
  async lockAdditions(tx: Tx, organization: OrganizationId): Promise<boolean> {
    await tx.query('SELECT 1 FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [organization]);
    return touches(tx, 'SELECT WHERE NOT EXISTS (SELECT FROM lockdowns WHERE subject_id = $1)', [
      organization,
    ]);
  }

  /** For a lockdown: remembers on which resources each rule is. The caller releases the entries. @returns the rules */
  async close(tx: Tx, organization: OrganizationId): Promise<string[]> {
    const trial = Trial.current;
    const present = await rows<{ id: string }>(
      tx,
      `SELECT id FROM static_ip_rules WHERE organization_id = $1 AND deleted_at IS NULL AND closed_on IS NULL
       ORDER BY id ${trial ? '' : 'FOR NO KEY UPDATE'}`,
      [organization],
    );
    const ids = present.map(({ id }) => id);
    if (trial) for (const id of ids) trial.staticIpRuleIds.add(id);
    else await closeStaticRules(tx, ids, 'LOCKDOWN');
    return ids;
  }

  /** What a lockdown has closed, and has not ended since. Call `lockAdditions` first. */
  listClosed(tx: Tx, organization: OrganizationId): Promise<ClosedRuleRow[]> {
    return tx.query(
      `SELECT id, ip_address AS "ipAddress", closed_on AS "resourceIds" FROM static_ip_rules
       WHERE organization_id = $1 AND ${IS_TO_REOPEN} ORDER BY id`,
      [organization],
    );
  }

  /** The caller opens it on what is left of its resources. @returns false when it was deleted or has ended meanwhile */
  reopen(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE static_ip_rules SET closed_on = NULL, closed_by = NULL
       WHERE organization_id = $1 AND id = $2 AND ${IS_TO_REOPEN} RETURNING id`,
      [organization, id],
    );
  }

  /** The present and pending ranges on these resources; a resource without one is left out. */
  ranges(
    tx: Tx,
    organization: OrganizationId,
    version: IpVersion,
    resourceIds: readonly string[],
  ): Promise<ResourceRangesRow[]> {
    return tx.query<ResourceRangesRow[]>(
      `SELECT r.id AS "resourceId", r.name AS "resourceName", array_agg(DISTINCT s.ip_address) AS ranges
       FROM static_ip_rules s JOIN resource_ips ip ON ip.static_ip_rule_id = s.id JOIN resources r ON r.id = ip.resource_id
       WHERE s.organization_id = $1 AND s.deleted_at IS NULL AND s.ip_address LIKE '%/%' AND ip.ip_version = $2
         AND ip.resource_id = ANY ($3::uuid[]) AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL
       GROUP BY r.id, r.name ORDER BY r.name, r.id`,
      [organization, version, resourceIds],
    );
  }

  /** @returns its id; it has no entries yet */
  create(
    tx: Tx,
    organization: OrganizationId,
    rule: Pick<StaticIpRuleRow, 'label' | 'ipAddress' | 'createdByEmail' | 'expiresAt' | 'reviewBy'>,
  ): Promise<string> {
    return insertRow(tx, StaticIpRuleEntity, { ...rule, organizationId: organization });
  }

  /** @param changes fields that are undefined stay as they are */
  async change(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    changes: { readonly label: string | undefined; readonly reviewBy: Date | null | undefined },
  ): Promise<void> {
    await tx.update(StaticIpRuleEntity, { organizationId: organization, id }, definedFields(changes));
  }

  /** Call `lock` first. Agents and some providers end every rule by themselves, so they are sent the new end. */
  async setEnd(tx: Tx, organization: OrganizationId, id: string, expiresAt: Date | null): Promise<void> {
    await tx.query('UPDATE static_ip_rules SET expires_at = $3 WHERE organization_id = $1 AND id = $2', [
      organization,
      id,
      expiresAt,
    ]);
    if (Trial.current) return;
    await tx.query(
      `UPDATE rules SET revision = revision + 1, due_at = CASE WHEN native_end_at IS NULL THEN due_at ELSE now() END WHERE id IN (
         SELECT holder.rule_id FROM resource_ips ip
         JOIN resources r ON r.id = ip.resource_id JOIN rule_holders holder ON holder.resource_ip_id = ip.id
           JOIN rules rule ON rule.id = holder.rule_id
         WHERE ip.organization_id = $1 AND ip.static_ip_rule_id = $2 AND ip.status IN (${HOLDING})
           AND (r.provider = 'AGENT' OR rule.native_end_at IS NOT NULL))`,
      [organization, id],
    );
  }

  /** Adds the rule to resources: entries and their desired cloud rules. @returns the targets to wake */
  async open(
    tx: Tx,
    organization: OrganizationId,
    rule: { id: string; ipVersion: IpVersion; ipAddress: string },
    entries: readonly NewEntry[],
    cause: Extract<AdditionCause, 'STATIC_RULE_CREATED' | 'STATIC_RULE_EXTENDED' | 'LOCKDOWN_LIFTED'>,
  ): Promise<WokenTargets[]> {
    if (isOnlyTried(entries)) return [];
    const ips = entries.map((entry) => ({ resourceIpId: randomUUID(), ...entry }));
    const [opened] = await tx.query<{ targets: WokenTargets[] }[]>(
      `WITH ip AS (
         INSERT INTO resource_ips
           (id, organization_id, static_ip_rule_id, resource_id, resource_name, ip_version, ip_address)
         SELECT i."resourceIpId", $1, $2, i."resourceId", i."resourceName", $3, $4
         FROM jsonb_to_recordset($5::jsonb) AS i("resourceIpId" uuid, "resourceId" uuid, "resourceName" text)
         RETURNING id, organization_id
       ), ${desiredRules('$6')},
       ${hold(cause)}
       SELECT ${wokenTargets('SELECT target_id FROM rule')} AS targets`,
      [organization, rule.id, rule.ipVersion, rule.ipAddress, JSON.stringify(ips), desiredRulesJson(ips)],
    );
    return opened!.targets;
  }

  /** Releases the rule's entries on these resources. @returns the targets to wake */
  async release(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    resourceIds: readonly string[],
    cause: 'STATIC_RULE_DELETED' | 'STATIC_RULE_CHANGED',
  ): Promise<WokenTargets[]> {
    // a FAILED entry whose rule may still be present is dropped when that is settled, so that the ledger can name it
    await tx.query(
      `UPDATE resource_ips SET released_at = now() WHERE organization_id = $1 AND static_ip_rule_id = $2
         AND resource_id = ANY ($3::uuid[]) AND status = 'FAILED'`,
      [organization, id, resourceIds],
    );
    return release(tx, cause, { staticIpRuleId: id, resourceIds });
  }

  /** Deletes the rule from the API; its row is deleted when its last entry has been removed from the cloud. */
  async delete(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query('UPDATE static_ip_rules SET deleted_at = now() WHERE organization_id = $1 AND id = $2', [
      organization,
      id,
    ]);
  }
}
