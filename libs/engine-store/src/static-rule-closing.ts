import { LEAVING, type Tx } from '#entities';

/**
 * Closes static IP rules, which the caller has locked by an earlier statement, and whose entries it releases afterwards. On which
 * resources each was is remembered.
 */
export async function closeStaticRules(
  tx: Tx,
  ids: readonly string[],
  by: 'LOCKDOWN' | 'EXPIRY',
): Promise<void> {
  await tx.query(
    `WITH forgotten AS (
       UPDATE resource_ips SET released_at = now() WHERE static_ip_rule_id = ANY ($1::uuid[]) AND status = 'FAILED'
     )
     UPDATE static_ip_rules rule SET closed_by = $2, closed_on = coalesce(closed_on, ARRAY(
       SELECT DISTINCT ip.resource_id FROM resource_ips ip
       WHERE ip.static_ip_rule_id = rule.id AND ip.status NOT IN (${LEAVING}) AND ip.released_at IS NULL))
     WHERE rule.id = ANY ($1::uuid[])`,
    [ids, by],
  );
}
