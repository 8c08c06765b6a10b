import {
  BUDGET_SPENT,
  SLOW_TARGETS,
  type AdditionCause,
  type HolderKind,
  type OrganizationId,
  type RemovalCause,
  type TargetRule,
  type Wait,
} from '#rules';
import { readPage, sqlList, type Slice, type Sliced, type TenantStore, type Tx } from '#entities';
import { LAST_OBSERVED } from './access-sql';
import { OVERDUE_AFTER_SECONDS, overdueBefore, UNWANTED_SINCE } from './backlog.store';
import { isKnownTo } from './target-sql';

/** Why a rule is wanted, or was until its removal: a session or a static IP rule of the organization. */
export interface TargetRuleHolder {
  readonly kind: Extract<HolderKind, 'SESSION' | 'STATIC_RULE'>;
  /** of the session or the static IP rule */
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly userId: string | null;
  readonly userName: string | null;
  readonly userEmail: string | null;
  /** of the static IP rule */
  readonly label: string | null;
  readonly cause: AdditionCause | null;
  /** ISO 8601; null: a static IP rule without an end */
  readonly until: string | null;
  /** ISO 8601: since when it waits for the removal; null: it holds the rule */
  readonly releasedAt: string | null;
}

type ShownFields =
  | 'address'
  | 'protocol'
  | 'ports'
  | 'providerRuleId'
  | 'state'
  | 'isUnmanaged'
  | 'isSuspended';

/** A rule of a target, as it is recorded now. */
export interface TargetRuleRow extends Pick<TargetRule, ShownFields> {
  /** null: no holder ever wanted it, and this deployment did not make it */
  readonly id: string | null;
  readonly isWanted: boolean;
  readonly presentSince: Date | null;
  readonly lastObservedAt: Date | null;
  readonly removalCause: RemovalCause | null;
  readonly unwantedSince: Date | null;
  readonly isOverdue: boolean;
  readonly dueAt: Date | null;
  /** null: it is not due */
  readonly waitsFor: Wait | null;
  /** null, too, when another organization holds the rule or made it: the provider may have answered its credential */
  readonly lastError: string | null;
  readonly isHeldByOthers: boolean;
  readonly holders: readonly TargetRuleHolder[];
}

/** SQL: whether a holder of the rule is the organization's ($1), or is not. */
const heldBy = (comparison: '=' | '<>'): string => `EXISTS (
    SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
    WHERE h.rule_id = r.id AND ip.organization_id ${comparison} $1)`;

const IS_WANTED = 'EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id AND h.released_at IS NULL)';

/** SQL: a write blocks the next one to `targets t` for long. */
const IS_SLOW = `t.resource_type IN (${sqlList(Object.keys(SLOW_TARGETS))})`;

/** What the rule waits for, as the head of `write-turns.ts` in the engine lists it. What it waited for before a hold or a release is not shown.
 * The gap is a clock of the pass: a target that was written a moment ago is taken to be in one. */
const WAITS_FOR = `CASE WHEN r.due_at IS NULL THEN NULL
    WHEN r.due_at > now() THEN CASE WHEN r.is_suspended AND ${IS_WANTED} THEN 'SUSPENSION'
      WHEN r.last_error = '${BUDGET_SPENT}' THEN 'TURN' ELSE 'BACK_OFF' END
    WHEN t.was_short AND t.last_write_at > now() - interval '5 seconds'
      OR ${IS_SLOW} AND t.last_write_at > now() - interval '20 seconds' THEN 'GAP' ELSE 'SLOT' END`;

/** The organization's holders ($1) of the rule `l`. */
const HOLDERS = `ARRAY(SELECT to_jsonb(holder) FROM (
    SELECT CASE WHEN ip.session_id IS NULL THEN 'STATIC_RULE' ELSE 'SESSION' END AS kind,
      coalesce(ip.session_id, ip.static_ip_rule_id) AS id, ip.resource_id AS "resourceId",
      coalesce(named.name, ip.resource_name) AS "resourceName", u.id AS "userId", u.name AS "userName",
      u.email AS "userEmail", static.label, h.cause, least(s.expires_at, s.lease_until, static.expires_at) AS until,
      h.released_at AS "releasedAt"
    FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id AND ip.organization_id = $1
    LEFT JOIN resources named ON named.id = ip.resource_id
    LEFT JOIN sessions s ON s.id = ip.session_id
    LEFT JOIN users u ON u.id = s.user_id
    LEFT JOIN static_ip_rules static ON static.id = ip.static_ip_rule_id
    WHERE h.rule_id = l.id ORDER BY h.released_at NULLS FIRST, until NULLS FIRST, ip.id
  ) holder)`;

/** Rules of the target $2 for the organization $1; $3: whether it may see those that others made or hold. */
const RULES = `SELECT l.*, ${HOLDERS} AS holders FROM (
    SELECT r.id, r.address, r.protocol, r.ports, r.provider_rule_id AS "providerRuleId", r.state,
      ${IS_WANTED} AND unwanted.since IS NULL AS "isWanted", r.is_unmanaged AS "isUnmanaged", r.present_since AS "presentSince",
      CASE WHEN r.present_since IS NOT NULL THEN ${LAST_OBSERVED} END AS "lastObservedAt",
      r.cause AS "removalCause", unwanted.since AS "unwantedSince",
      coalesce(unwanted.since < ${overdueBefore(String(OVERDUE_AFTER_SECONDS))}, false) AND r.state <> 'absent' AS "isOverdue",
      r.is_suspended AS "isSuspended", r.due_at AS "dueAt", ${WAITS_FOR} AS "waitsFor",
      CASE WHEN coalesce(writer.organization_id = $1, true) AND NOT ${heldBy('<>')} THEN r.last_error END AS "lastError",
      ${heldBy('<>')} AS "isHeldByOthers"
    FROM rules r CROSS JOIN LATERAL (SELECT ${UNWANTED_SINCE} AS since) unwanted
    JOIN targets t ON t.id = r.target_id LEFT JOIN credentials writer ON writer.id = r.credential_id
    WHERE r.target_id = $2 AND (r.state <> 'absent' OR ${IS_WANTED}) AND ($3 OR ${heldBy('=')})
    UNION ALL
    SELECT NULL, split_part(n.key, ' ', 1), split_part(n.key, ' ', 2), split_part(n.key, ' ', 3), n.provider_rule_id,
      'present', false, true, n.present_since, greatest(n.present_since, t.compared_at), NULL, NULL, false, false, NULL,
      NULL, NULL, false
    FROM unmanaged_rules n JOIN targets t ON t.id = n.target_id
    WHERE n.target_id = $2 AND $3 AND NOT EXISTS (
      SELECT FROM rules r WHERE r.target_id = n.target_id AND r.key = n.key AND r.is_unmanaged AND r.state <> 'absent')
  ) l`;

/** What is on a target now, for one of the organizations with a resource there. */
export class TargetRuleStore implements TenantStore<TargetRuleStore> {
  /**
   * Rules that are present, may be, or are wanted; unmanaged ones last, as the last comparison observed them. Without a
   * resource on the target that was verified for writing, an organization sees the rules that it holds.
   */
  async list(
    tx: Tx,
    organization: OrganizationId,
    targetId: string,
    slice: Slice,
  ): Promise<Sliced<TargetRuleRow>> {
    const [known] = await tx.query<{ isKnown: boolean }[]>(`SELECT ${isKnownTo('$1', '$2')} AS "isKnown"`, [
      organization,
      targetId,
    ]);
    const given = [organization, targetId, known!.isKnown];
    return readPage(
      tx,
      RULES,
      'l."isUnmanaged", l.address, l.protocol, l.ports, l."providerRuleId", l.id',
      given,
      slice,
    );
  }
}
