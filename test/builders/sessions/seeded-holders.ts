import type { GuardedHost } from '../resources/agents';
import type { Organization } from '../accounts/organization';

/** Range of all seeded addresses; sessions of tests are outside of it. */
const SEEDED_RANGE = '100.64.0.0/10';

/**
 * Inserts ACTIVE sessions on a host, each with an address of its own: thousands in a second. Its agent gets them like
 * any other.
 */
export async function seedHolders(
  org: Organization,
  { resourceId }: GuardedHost,
  { port, count }: { readonly port: number; readonly count: number },
): Promise<void> {
  await org.drawbridge.query(
    `WITH place AS (
       SELECT gen_random_uuid() AS session_id, gen_random_uuid() AS ip_id, gen_random_uuid() AS rule_id,
         host($1::cidr + n) AS address, r.*
       FROM generate_series(1, $2::int) n
       CROSS JOIN (SELECT id AS resource_id, name, target_id, credential_id FROM resources WHERE id = $3) r
     ), session AS (
       INSERT INTO sessions (id, organization_id, user_id, ipv4_address, status, expires_at)
       SELECT session_id, $4, $5, address, 'ACTIVE', now() + interval '1 hour' FROM place
     ), ip AS (
       INSERT INTO resource_ips (id, organization_id, session_id, resource_id, resource_name, ip_version, ip_address,
         status, applied_at)
       SELECT ip_id, $4, session_id, resource_id, name, 4, address, 'APPLIED', now() FROM place
     ), rule AS (
       INSERT INTO rules (id, target_id, key, address, protocol, ports, state, credential_id, region)
       SELECT rule_id, target_id, address || '/32 tcp ' || $6, address || '/32', 'tcp', $6, 'present', credential_id, null
       FROM place
     )
     INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT rule_id, ip_id FROM place`,
    [SEEDED_RANGE, count, resourceId, org.organizationId, org.adminId, String(port)],
  );
  await org.drawbridge.query('ANALYZE');
}
