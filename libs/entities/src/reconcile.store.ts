import {
  parseRuleKey,
  portsText,
  TARGET_GONE_MS,
  type Drift,
  type KnownRule,
  type OrganizationId,
} from '#rules';
import { SYSTEM_ACTOR, AuditStore } from './audit.store';
import type { Access } from './convergence.store';
import { returned, type Tx } from './database';
import type { Lease } from './lease.store';
import { lockOwners } from './lock-owners';
import { HOLDING } from './status-lists';

/** A resource that names the cloud object. */
export interface NamingResource {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
}

/** One way into a cloud object, and the resources whose own way it is. */
export interface ReconcileWay {
  readonly access: Access;
  readonly resources: readonly NamingResource[];
}

/** What a reconcile tells of a resource. */
export interface ReconcileOutcome {
  readonly resources: readonly NamingResource[];
  /** null: all is as it should be */
  readonly message: string | null;
}

const EVERY = '10 minutes';
/** More often than this within an hour somebody else keeps taking a rule out: then we wait for the hour to end. */
const MOST_FIGHTS = 3;

/** Compares cloud objects with what the database believes. It serves every organization at once, as convergence does. */
export class ReconcileStore {
  private readonly audit = new AuditStore();

  /** Plans the next one. @returns null when it is not due, or the lease is lost; whether somebody asked for it */
  async begin(tx: Tx, lease: Lease): Promise<{ requested: boolean } | null> {
    const [begun] = returned<{ requested: boolean }>(
      await tx.query(
        `UPDATE targets t SET reconcile_due_at = now() + interval '${EVERY}', reconcile_requested = false
         FROM (SELECT id, reconcile_requested AS requested FROM targets WHERE id = $1) old
         WHERE t.id = old.id AND t.lease_generation = $2 AND t.reconcile_due_at <= now() RETURNING old.requested`,
        [lease.targetId, lease.generation],
      ),
    );
    return begun ?? null;
  }

  /** Asks for a reconcile soon. @param requested somebody waits for the outcome */
  async ask(tx: Tx, targetId: string, inSeconds: number, requested: boolean): Promise<void> {
    await tx.query(
      `UPDATE targets SET reconcile_due_at = least(reconcile_due_at, now() + make_interval(secs => $2)),
         reconcile_requested = reconcile_requested OR $3 WHERE id = $1`,
      [targetId, inSeconds, requested],
    );
  }

  known(tx: Tx, lease: Lease): Promise<KnownRule[]> {
    return tx.query(
      `SELECT r.id AS "ruleId", r.key, r.state, r.is_foreign AS "isForeign", EXISTS (
         SELECT FROM rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
         WHERE holder.rule_id = r.id AND ip.status IN (${HOLDING})
       ) AS wanted
       FROM rules r WHERE r.target_id = $1`,
      [lease.targetId],
    );
  }

  /** The ways of the resources that name the object; without any, the ways its rules were written. */
  ways(tx: Tx, lease: Lease): Promise<ReconcileWay[]> {
    return tx.query(
      `WITH named AS (
         SELECT credential_id, region, jsonb_agg(jsonb_build_object('id', id, 'organizationId', organization_id,
           'name', name)) AS resources
         FROM resources WHERE target_id = $1 AND deleted_at IS NULL GROUP BY credential_id, region
       ), written AS (
         SELECT DISTINCT credential_id, region, '[]'::jsonb AS resources FROM rules
         WHERE target_id = $1 AND state <> 'absent' AND credential_id IS NOT NULL AND NOT EXISTS (SELECT FROM named)
       )
       SELECT jsonb_build_object('credentialId', credential_id, 'region', region) AS access, resources
       FROM (SELECT * FROM named UNION ALL SELECT * FROM written) ways`,
      [lease.targetId],
    );
  }

  /**
   * Makes drift due: convergence mends it. Rules with our mark that nobody knows are taken over, to be removed as any
   * other that nobody wants.
   * @param access the way the drift was seen
   * @returns the ids of missing rules that are left alone for now: somebody keeps taking them out
   */
  async makeDue(tx: Tx, lease: Lease, drift: Drift, access: Access): Promise<string[]> {
    const lost = returned<{ id: string; damped: boolean }>(
      await tx.query(
        `UPDATE rules SET state = 'absent', revision = revision + 1, attempts = 0,
           lost_count = CASE WHEN lost_at > now() - interval '1 hour' THEN lost_count + 1 ELSE 1 END,
           lost_at = CASE WHEN lost_at > now() - interval '1 hour' THEN lost_at ELSE now() END,
           due_at = CASE WHEN lost_at > now() - interval '1 hour' AND lost_count >= ${MOST_FIGHTS}
             THEN lost_at + interval '1 hour' ELSE now() END
         WHERE id = ANY ($1::uuid[]) AND state = 'present' RETURNING id, due_at > now() AS damped`,
        [drift.missing],
      ),
    );
    await tx.query(
      `UPDATE rules SET state = 'present', due_at = now(), revision = revision + 1, attempts = 0,
         credential_id = coalesce(credential_id, $2), region = CASE WHEN credential_id IS NULL THEN $3 ELSE region END
       WHERE id = ANY ($1::uuid[]) AND state = 'absent'`,
      [drift.lingering, access.credentialId, access.region],
    );
    const orphans = drift.orphans.map(({ key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      return { key, address, protocol, ports: portsText(ports), provider_rule_id: providerRuleId };
    });
    await tx.query(
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, provider_rule_id, credential_id, region, due_at)
       SELECT $1, o.key, o.address, o.protocol, o.ports, 'present', o.provider_rule_id, $3, $4, now()
       FROM jsonb_to_recordset($2::jsonb)
         AS o(key text, address text, protocol text, ports text, provider_rule_id text)
       ON CONFLICT DO NOTHING`,
      [lease.targetId, JSON.stringify(orphans), access.credentialId, access.region],
    );
    return lost.filter((rule) => rule.damped).map((rule) => rule.id);
  }

  /**
   * Notes that a way leads to no cloud object, or to one again.
   * @returns true when it has led to none for so long that the rules written that way are gone with it
   */
  async noteMissing(tx: Tx, lease: Lease, access: Access, missing: boolean): Promise<boolean> {
    const rules = returned<{ gone: boolean }>(
      await tx.query(
        `UPDATE rules SET target_missing_since = CASE WHEN $4 THEN coalesce(target_missing_since, now()) END
         WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3 AND state <> 'absent'
           AND ($4 OR target_missing_since IS NOT NULL)
         RETURNING target_missing_since <= now() - make_interval(secs => $5) AS gone`,
        [lease.targetId, access.credentialId, access.region, missing, TARGET_GONE_MS / 1000],
      ),
    );
    return rules.some((rule) => rule.gone);
  }

  /**
   * The cloud object is gone, and its rules with it: whoever holds them waits for them again, and is told in the
   * provider's words that they cannot be had. The resources are not to be used until somebody verifies them.
   */
  async giveUpTarget(tx: Tx, lease: Lease, { access, resources }: ReconcileWay): Promise<void> {
    const ids = resources.map((resource) => resource.id);
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.resource_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [ids],
    );
    await tx.query(
      `UPDATE rules SET state = 'absent', due_at = now(), revision = revision + 1, attempts = 0
       WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3 AND state = 'present'`,
      [lease.targetId, access.credentialId, access.region],
    );
    await tx.query(
      `UPDATE resource_ips SET status = 'PENDING', pending_since = now()
       WHERE resource_id = ANY ($1::uuid[]) AND status = 'APPLIED'`,
      [ids],
    );
    await tx.query('UPDATE resources SET is_active = false WHERE id = ANY ($1::uuid[])', [ids]);
  }

  /** @param always also when the last outcome was the same */
  async record(tx: Tx, { resources, message }: ReconcileOutcome, always: boolean): Promise<void> {
    const found = message === null ? 'RECONCILE_OK' : 'RECONCILE_FAILED';
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT n."organizationId", n.id, $2, $3
       FROM jsonb_to_recordset($1::jsonb) AS n(id uuid, "organizationId" uuid)
       JOIN resources r ON r.id = n.id AND r.deleted_at IS NULL
       WHERE $4 OR $2 IS DISTINCT FROM (
         SELECT e.event_type FROM resource_health_events e
         WHERE e.resource_id = n.id AND e.event_type IN ('RECONCILE_OK', 'RECONCILE_FAILED')
         ORDER BY e.created_at DESC LIMIT 1)`,
      [JSON.stringify(resources), found, message, always],
    );
  }

  /** Every organization whose resource names the object is told that a rule with our mark was taken out. */
  async auditOrphans(tx: Tx, drift: Drift, resources: readonly NamingResource[]): Promise<void> {
    if (drift.orphans.length === 0) return;
    for (const resource of resources) {
      await this.audit.write(tx, resource.organizationId, {
        ...SYSTEM_ACTOR,
        eventType: 'RULE_ORPHAN_REMOVED',
        resourceType: 'RESOURCE',
        resourceId: resource.id,
        resourceName: resource.name,
        details: { rules: drift.orphans.map((rule) => rule.key) },
      });
    }
  }
}
