import type { OrganizationId } from '#rules';
import { first, HOLDING, readPage, type Slice, type Sliced, type Tx } from '#entities';
import type { PlacedRule } from './rows';

/** SQL: tells this database from its copies. Its replicas have the same: a failover changes nothing. */
const IDENTITY = `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
  (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * SQL: whether the database was restored from a backup, and no operator has confirmed that yet. It holds from the first
 * statement on a restored dump, whether or not anything has noted that.
 */
export const IS_RESTORED = `coalesce(
  (SELECT restored_at IS NOT NULL OR database_identity <> ${IDENTITY} FROM sweeper_lease), false)`;

/** Of a restored database that is not confirmed yet. */
export interface Restore {
  /** since when it is known */
  readonly since: Date;
  /** targets that workers compare */
  readonly targets: number;
  /** those of them that were compared since: only then what they hold is known */
  readonly compared: number;
  /** some of the others, for people: provider and identifier */
  readonly notCompared: readonly string[];
}

interface Named {
  readonly id: OrganizationId;
  readonly slug: string;
}

/** A rule that is in a cloud with our mark and unknown to the database. */
export interface UnknownRule extends PlacedRule {
  readonly ruleId: string;
  readonly providerRuleId: string;
  /** those with a resource on its target */
  readonly organizations: readonly Named[];
}

/** What a session or a static IP rule wants, and is not in the cloud. */
export interface UnopenedAddress extends PlacedRule {
  readonly organization: Named;
  readonly resourceName: string;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  /** the user of the session, or the label of the static IP rule */
  readonly holder: string;
  /** null: it has no planned end */
  readonly endsAt: Date | null;
}

/** SQL: whether the rule `r` is unknown, and waits for an operator. */
const IS_HELD_BACK = `r.cause = 'ORPHAN' AND r.due_at IS NULL AND r.state <> 'absent'`;
/** Targets that are named in one line. */
const MAX_NAMED = 20;
const ENDS_AT = 'least(s.expires_at, s.lease_until, fixed.expires_at)';
/** SQL: the `PlacedRule` of `rules r` on `targets t`. */
export const PLACED_RULE = `t.provider, t.resource_type AS "resourceType", t.identifier, r.address, r.protocol, r.ports`;
const NAMED = `jsonb_build_object('id', o.id, 'slug', o.slug)`;

/** A database restored from a backup: nothing is opened, and what it does not know stays open, until an operator confirms. */
export class RestoreStore {
  /**
   * Notes which database this is, and whether it is a restored one. Every target is then compared at once.
   * @param isReported an operator says that it is
   * @returns whether it was restored and that is not confirmed yet
   */
  async note(tx: Tx, isReported: boolean): Promise<boolean> {
    const noted = await first<{ isNew: boolean | null }>(
      tx,
      `INSERT INTO sweeper_lease AS known (id, worker_id, lease_until, database_identity, restored_at)
       VALUES (1, '', now(), ${IDENTITY}, CASE WHEN $1 THEN now() END)
       ON CONFLICT (id) DO UPDATE SET database_identity = excluded.database_identity,
         restored_at = CASE WHEN $1 OR known.database_identity <> excluded.database_identity THEN now() ELSE known.restored_at END
       WHERE $1 OR known.database_identity IS DISTINCT FROM excluded.database_identity
       RETURNING restored_at = now() AS "isNew"`,
      [isReported],
    );
    if (noted?.isNew) {
      await this.compareAll(tx);
      // their issuers' refresh tokens may have been used since the backup: a refusal proves nothing
      await tx.query('UPDATE sso_sign_ins SET asked_at = now() WHERE sealed_data IS NOT NULL');
    }
    return this.isRestored(tx);
  }

  async isRestored(tx: Tx): Promise<boolean> {
    const [row] = await tx.query<{ isRestored: boolean }[]>(`SELECT ${IS_RESTORED} AS "isRestored"`);
    return row!.isRestored;
  }

  /** @returns null: it was not restored, or an operator has confirmed it */
  find(tx: Tx): Promise<Restore | null> {
    return first<Restore>(
      tx,
      `SELECT restored_at AS since, count(t.id)::int AS targets,
         count(*) FILTER (WHERE t.compared_at >= restored_at)::int AS compared,
         coalesce((array_agg(t.provider || ' ' || t.identifier ORDER BY t.identifier)
           FILTER (WHERE (t.compared_at >= restored_at) IS NOT TRUE AND t.id IS NOT NULL))[1:${MAX_NAMED}], '{}') AS "notCompared"
       FROM sweeper_lease LEFT JOIN targets t ON t.provider <> 'AGENT' AND (
         EXISTS (SELECT FROM resources WHERE target_id = t.id AND deleted_at IS NULL)
         OR EXISTS (SELECT FROM rules WHERE target_id = t.id AND state <> 'absent'))
       WHERE restored_at IS NOT NULL GROUP BY restored_at`,
      [],
    );
  }

  /** What is closed when an operator confirms. */
  listUnknown(tx: Tx, slice: Slice): Promise<Sliced<UnknownRule>> {
    return readPage(
      tx,
      `SELECT r.id AS "ruleId", r.provider_rule_id AS "providerRuleId", ${PLACED_RULE}, ARRAY(
           SELECT ${NAMED} FROM organizations o WHERE o.id IN (
             SELECT organization_id FROM resources WHERE target_id = t.id AND deleted_at IS NULL)
           ORDER BY o.slug) AS organizations
         FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.unwanted_since IS NOT NULL AND ${IS_HELD_BACK}`,
      't.identifier, r.address, r.protocol, r.ports, r.id',
      [],
      slice,
    );
  }

  /** What is opened when an operator confirms, unless its session or static IP rule is ended before. */
  listUnopened(tx: Tx, slice: Slice): Promise<Sliced<UnopenedAddress>> {
    return readPage(
      tx,
      `SELECT ${NAMED} AS organization, coalesce(res.name, ip.resource_name) AS "resourceName",
           ip.session_id AS "sessionId", ip.static_ip_rule_id AS "staticIpRuleId",
           coalesce(u.email, fixed.label) AS holder, ${ENDS_AT} AS "endsAt", ${PLACED_RULE}
         FROM rules r JOIN targets t ON t.id = r.target_id
         JOIN rule_holders h ON h.rule_id = r.id AND h.released_at IS NULL
         JOIN resource_ips ip ON ip.id = h.resource_ip_id AND ip.status IN (${HOLDING})
         JOIN organizations o ON o.id = ip.organization_id
         LEFT JOIN resources res ON res.id = ip.resource_id
         LEFT JOIN sessions s ON s.id = ip.session_id LEFT JOIN users u ON u.id = s.user_id
         LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id
         WHERE r.due_at IS NOT NULL AND r.state <> 'present' AND coalesce(${ENDS_AT} > now(), true)`,
      'o.slug, ip.session_id, ip.static_ip_rule_id, t.identifier, r.address, r.protocol, r.ports, ip.id',
      [],
      slice,
    );
  }

  /**
   * Ends it: unknown rules are due for removal, everything that waits is due at once, and addresses wait from now on.
   * @returns false when there is nothing to confirm
   */
  async confirm(tx: Tx): Promise<boolean> {
    const confirmed = await first(
      tx,
      `UPDATE sweeper_lease SET restored_at = NULL, database_identity = ${IDENTITY}
       WHERE ${IS_RESTORED} RETURNING 1`,
      [],
    );
    if (!confirmed) return false;
    // as every writer locks: targets before rules before addresses
    await this.compareAll(tx);
    await tx.query(
      `UPDATE rules r SET due_at = now() WHERE (due_at > now() AND NOT is_suspended) OR ${IS_HELD_BACK}`,
    );
    await tx.query(`UPDATE resource_ips SET pending_since = now() WHERE status = 'PENDING'`);
    return true;
  }

  private async compareAll(tx: Tx): Promise<void> {
    await tx.query('UPDATE targets SET reconcile_due_at = now() WHERE reconcile_due_at > now()');
  }
}
