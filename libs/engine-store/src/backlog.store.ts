import { PROVIDERS, SLOW_TARGETS, slowerBySeconds, type Provider, type RemovalCause } from '#rules';
import { IS_RESTORED, PLACED_RULE } from './restore.store';
import type { PlacedRule } from './rows';
import {
  MAY_EXPIRE,
  sqlList,
  STATIC_RULE_MAY_END,
  readPage,
  type Slice,
  type Sliced,
  type Tx,
} from '#entities';

/** Pending work on the targets of one provider. */
export interface Backlog {
  readonly provider: Provider;
  /** rules that are due or in backoff, or that wait for a sweep to release them */
  readonly dueRules: number;
  /** rules that should have been gone for five seconds and were not observed absent, with or without a holder */
  readonly overdueRules: number;
  /** seconds since the oldest of them should have been gone; 0: none */
  readonly oldestOverdueSeconds: number;
}

/** What concerns the whole deployment. */
interface Condition {
  /** since the last successful sweep of any worker; null: none is known */
  readonly secondsSinceSweep: number | null;
  /** from a backup, and no operator has confirmed that */
  readonly isRestored: boolean;
}

/** A rule that should be gone and is not. */
export interface OverdueRuleRow extends PlacedRule {
  readonly id: string;
  /** those that hold it; of a rule without holders, those with a resource on its target */
  readonly organizations: readonly { readonly id: string; readonly slug: string }[];
  /** with which it is removed; null: none is known */
  readonly credentialId: string | null;
  readonly cause: RemovalCause | null;
  /** since when it has to be removed */
  readonly unwantedSince: Date;
  readonly lastError: string | null;
}

/** How long a rule may be unwanted and still be there before it counts as overdue. */
export const OVERDUE_AFTER_SECONDS = 5;

/** SQL: why the overdue `rules r` should be gone. */
export const CAUSE_OF_OVERDUE = `coalesce(r.cause, (
    SELECT CASE WHEN bool_and(ip.session_id IS NULL) THEN 'STATIC_RULE_EXPIRED' END
    FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE h.rule_id = r.id), 'SESSION_EXPIRED')`;

/**
 * SQL: since when `rules r` should be gone; null: it is wanted. While no worker sweeps, that is when the session or the
 * static IP rule of its last holder ended.
 */
export const UNWANTED_SINCE = `coalesce(r.unwanted_since, (
    SELECT CASE WHEN bool_and(coalesce(held.until <= now(), false)) THEN max(held.until) END
    FROM (SELECT least(s.expires_at, s.lease_until, fixed.expires_at) AS until
      FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id LEFT JOIN sessions s ON s.id = ip.session_id
      LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id
      WHERE h.rule_id = r.id AND h.released_at IS NULL) held))`;

/** SQL: the rules of what an owner `o` holds. OFFSET, and arrays of what it returns: see `HELD_BEYOND`. */
const heldBy = (column: string): string => `CROSS JOIN LATERAL (
      SELECT h.rule_id FROM resource_ips ip JOIN rule_holders h ON h.resource_ip_id = ip.id
      WHERE ip.${column} = o.id AND h.released_at IS NULL OFFSET 0) held`;

/**
 * SQL: the rules that a session or a static IP rule holds whose end was before `moment`, and that no sweep has released. Those that
 * wait for a sweep are few, but PostgreSQL expects a third of all, and would read all that is held.
 */
const HELD_BEYOND = (moment: string): string => `SELECT held.rule_id FROM sessions o ${heldBy('session_id')}
    WHERE o.status IN (${MAY_EXPIRE}) AND least(o.expires_at, o.lease_until) < ${moment}
    UNION ALL SELECT held.rule_id FROM static_ip_rules o ${heldBy('static_ip_rule_id')}
    WHERE ${STATIC_RULE_MAY_END} AND o.expires_at < ${moment}`;

/** SQL: how much longer than usual the removal of `rules r` may take, in seconds. */
const SLOWER_BY = `coalesce((SELECT slow.seconds FROM targets t JOIN unnest(
    ARRAY[${sqlList(Object.keys(SLOW_TARGETS))}]::text[],
    ARRAY[${Object.keys(SLOW_TARGETS).map(slowerBySeconds).join(', ')}]::int[]
  ) slow (type, seconds) ON slow.type = t.resource_type WHERE t.id = r.target_id), 0)`;

/** SQL: until when what has happened by now is overdue for `rules r`. */
export const overdueBefore = (seconds: string): string =>
  `now() - make_interval(secs => ${seconds} + ${SLOWER_BY})`;

/** SQL: whether `rules r` should have been gone for these seconds, and may not be. @param where chooses among the unwanted */
export const overdueFor = (seconds: string, where = ''): string => {
  const moment = `now() - make_interval(secs => ${seconds})`;
  return `r.id = ANY (ARRAY(SELECT id FROM rules WHERE unwanted_since < ${moment} ${where} UNION ALL ${HELD_BEYOND(moment)}))
    AND r.state <> 'absent' AND ${UNWANTED_SINCE} < ${overdueBefore(seconds)}`;
};

/** SQL: whether `rules r` should be gone and may not be. */
const OVERDUE = overdueFor(String(OVERDUE_AFTER_SECONDS));

/** Pending work, for operators. Serves all organizations; only for callers with a platform role. */
export class BacklogStore {
  /** Providers of all targets that a resource ever pointed at. */
  async providersInUse(tx: Tx): Promise<Provider[]> {
    const rows = await tx.query<{ provider: Provider }[]>('SELECT DISTINCT provider FROM targets');
    return rows.map(({ provider }) => provider);
  }

  /** The backlog of every provider, also of those without any. */
  byProvider(tx: Tx): Promise<Backlog[]> {
    return tx.query(
      `WITH overdue AS (
         SELECT t.provider, count(*)::int AS count, extract(epoch FROM now() - min(${UNWANTED_SINCE})) AS oldest
         FROM rules r JOIN targets t ON t.id = r.target_id WHERE ${OVERDUE} GROUP BY t.provider
       ), due AS (
         SELECT t.provider, count(*)::int AS count FROM (
           SELECT target_id FROM rules WHERE due_at IS NOT NULL
           UNION ALL SELECT target_id FROM rules WHERE due_at IS NULL AND id = ANY (ARRAY(${HELD_BEYOND('now()')}))
         ) r JOIN targets t ON t.id = r.target_id GROUP BY t.provider
       )
       SELECT provider, coalesce(due.count, 0) AS "dueRules", coalesce(overdue.count, 0) AS "overdueRules",
         coalesce(overdue.oldest, 0)::float8 AS "oldestOverdueSeconds"
       FROM unnest($1::text[]) AS named (provider) LEFT JOIN due USING (provider) LEFT JOIN overdue USING (provider)`,
      [PROVIDERS],
    );
  }

  /** A sweep ahead of now dates from before the clock was set back: it is as far away, so that it does not hide dead workers. */
  async condition(tx: Tx): Promise<Condition> {
    const [row] = await tx.query<Condition[]>(
      `SELECT abs(extract(epoch FROM now() - swept_at))::float8 AS "secondsSinceSweep", ${IS_RESTORED} AS "isRestored"
       FROM sweeper_lease`,
    );
    return row ?? { secondsSinceSweep: null, isRestored: false };
  }

  /**
   * Overdue rules, the oldest first. Its cost depends on how many rules are unwanted, or wait for a sweep.
   * @param ids of the rules to choose from; null: all
   */
  overdueRules(tx: Tx, slice: Slice, ids: readonly string[] | null = null): Promise<Sliced<OverdueRuleRow>> {
    const rules = `FROM rules r JOIN targets t ON t.id = r.target_id
      WHERE ${OVERDUE} AND ($1::uuid[] IS NULL OR r.id = ANY ($1::uuid[]))`;
    return readPage(
      tx,
      `SELECT r.id, ARRAY(
            SELECT jsonb_build_object('id', o.id, 'slug', o.slug) FROM organizations o WHERE o.id IN (
              SELECT ip.organization_id FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
              WHERE h.rule_id = r.id
              UNION ALL
              SELECT res.organization_id FROM resources res WHERE res.target_id = t.id AND res.deleted_at IS NULL
                AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id))
            ORDER BY o.slug) AS organizations,
          ${PLACED_RULE},
          coalesce((SELECT parent_id FROM credentials WHERE id = r.credential_id), r.credential_id) AS "credentialId",
          ${CAUSE_OF_OVERDUE} AS cause,
          ${UNWANTED_SINCE} AS "unwantedSince", r.last_error AS "lastError"
          ${rules}`,
      '"unwantedSince", r.id',
      [ids],
      slice,
    );
  }
}
