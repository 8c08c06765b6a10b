import { returned, type Tx } from '#entities';
import { TARGET_GONE_MS } from '#rules';
import type { AccessPath } from './comparison';
import type { Access } from './due-rule';
import type { Lease } from './lease.store';
import { lockOwners } from './lock-owners';
import { POSSIBLE_SINCE_IF_IN_FLIGHT } from './possible-since';

/** Targets that no longer exist through an access path, and their rules. */
export class MissingTargetStore {
  /**
   * Records whether the target is missing through an access path.
   * @returns whether it has been missing for longer than `TARGET_GONE_MS`: the rules written through this path are given up
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
    return missing && rules.some((rule) => rule.gone);
  }

  /** The present and desired rules written through this access path. Passes give up the others. */
  async presentRules(tx: Tx, lease: Lease, access: Access): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>(
      `SELECT id FROM rules WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3
         AND state = 'present' AND unwanted_since IS NULL ORDER BY id FOR NO KEY UPDATE`,
      [lease.targetId, access.credentialId, access.region],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Gives up the target and its desired rules, suspended ones included. Their holders become PENDING, and fail when the
   * target stays missing. The resources stay inactive until they are verified again.
   * @param message for people
   */
  async giveUpTarget(
    tx: Tx,
    lease: Lease,
    { access, resources }: AccessPath,
    message: string,
  ): Promise<void> {
    const ids = resources.map((resource) => resource.id);
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.resource_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [ids],
    );
    await tx.query(
      `UPDATE rules SET state = 'absent', due_at = now(), revision = revision + 1, attempts = 0, is_missing = false,
         is_suspended = false, possible_since = ${POSSIBLE_SINCE_IF_IN_FLIGHT}, present_since = NULL, observed_at = NULL, removal_sent_at = NULL
       WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3
         AND unwanted_since IS NULL AND (state = 'present' OR (state = 'absent' AND due_at > now()))`,
      [lease.targetId, access.credentialId, access.region],
    );
    await tx.query(
      `UPDATE resource_ips SET status = 'PENDING', pending_since = now(), given_up = $2
       WHERE resource_id = ANY ($1::uuid[]) AND status = 'APPLIED'`,
      [ids, message],
    );
    await tx.query(
      'UPDATE resources SET is_active = false, write_verified = false WHERE id = ANY ($1::uuid[])',
      [ids],
    );
  }
}
