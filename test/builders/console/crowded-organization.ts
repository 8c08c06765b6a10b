import type { Drawbridge } from '../../harness/product/drawbridge';
import { furnishedOrganization, type FurnishedOrganization } from './furnished-organization';
import { waiting } from '../sso/identity-providers';
import { group, sshTo } from '../accounts/organization';
import { newcomer, type Person } from '../accounts/people';
import { verifiedResource } from '../resources/resources';
import { delivered, webhook } from '../notices/webhooks';

/** What would run, and what would break every line, if a screen took a name for more than a text. */
const HOSTILE_NAME = '<img/src=x/onerror=alert(document.domain)>';

/** As long as an address gets. */
export const LONG_ADDRESS = '2001:db8:1234:5678:9abc:def0:1234:5678';

/** An organization with many objects of each kind, all with the longest and worst names. */
export interface CrowdedOrganization extends FurnishedOrganization {
  /** an administrator with open access, some of which was refused */
  readonly keeper: Person;
  /** of the keeper; it was refused, and was never open */
  readonly refusedSessionId: string;
  /** with the longest URL; nobody is there */
  readonly webhookId: string;
}

interface Crowd {
  readonly table: string;
  readonly copies: number;
  /** what copies have of their own, as SQL; `copy.id` is their id */
  readonly own?: string;
  /** columns that get the worst name, as long as the API takes it */
  readonly names?: readonly string[];
  readonly longest?: number;
}

const CROWDS: readonly Crowd[] = [
  {
    table: 'users',
    copies: 200,
    own: `'email', copy.id || repeat('.long', 5) || '@' || repeat('sub-domain.', 8) || 'example.com'`,
    names: ['name'],
  },
  { table: 'credentials', copies: 120, own: `'check_due_at', null`, names: ['name'] },
  { table: 'resources', copies: 200, own: `'verify_due_at', null`, names: ['name'] },
  { table: 'roles', copies: 120, own: `'name', copy.id`, names: ['name', 'description'], longest: 100 },
  { table: 'static_ip_rules', copies: 120, names: ['label'] },
  {
    table: 'api_keys',
    copies: 120,
    own: `'key_hash', copy.id, 'last_used_ip', '${LONG_ADDRESS}'`,
    names: ['name', 'description'],
    longest: 100,
  },
  { table: 'oidc_trusts', copies: 120, own: `'name', copy.id`, names: ['name'], longest: 100 },
  {
    table: 'access_requests',
    copies: 60,
    own: `'reason', '${HOSTILE_NAME}' || repeat('W', 400), 'ticket', repeat('W', 100)`,
  },
  { table: 'identity_providers', copies: 9, own: `'name', copy.id`, names: ['name'], longest: 100 },
  {
    table: 'user_identities',
    copies: 120,
    own: `'subject', copy.id || repeat('W', 219)`,
    names: ['email'],
  },
  {
    table: 'sessions',
    copies: 120,
    own: `'holder', copy.id, 'status', 'EXPIRED', 'ended_at', now(), 'token_hash', null, 'reason', repeat('W', 500)`,
  },
  {
    table: 'audit_records',
    copies: 120,
    own: `'sequence', nextval('audit_records_sequence_seq'), 'ip_address', '${LONG_ADDRESS}', 'resource_name', '${HOSTILE_NAME}' || repeat('W', 150)`,
  },
  {
    table: 'webhook_deliveries',
    copies: 120,
    // one that is under way may be copied: there is at most one of these
    own: `'position', (2 ^ 40 * (1 + random()))::bigint, 'status', 'DELIVERED', 'due_at', null`,
  },
  { table: 'resource_health_events', copies: 120, names: ['message'] },
  { table: 'resource_ips', copies: 0, names: ['resource_name'] },
];

/** @param address where the keeper's access is open */
export async function crowdedOrganization(
  drawbridge: Drawbridge,
  address: string,
): Promise<CrowdedOrganization> {
  const { cloud } = drawbridge;
  const org = await furnishedOrganization(drawbridge, sshTo(1)[0]!, '203.0.113.9');
  const { admin, organizationId, roleId } = org;
  const keeper = await newcomer(drawbridge, admin, { isOrgAdmin: true, roleIds: [roleId] });
  const full = await verifiedResource(org, 1);
  const vpn = { address: '198.51.100.0/24', protocol: 'tcp', fromPort: 22, toPort: 22 };
  await cloud.addUnmanaged({ target: group(0), ...vpn });
  await cloud.addUnmanaged({ target: group(0), ...vpn, address: `${LONG_ADDRESS}/128` });
  const resourceIds = org.resourceIds.slice(0, 1);
  await admin.created('/static-ip-rules', { label: 'VPN', ipAddress: `${LONG_ADDRESS}/128`, resourceIds });
  await cloud.fault({ kind: 'quota', target: group(1) });
  const { id } = await keeper.client.posted<{ id: string }>('/sessions', {
    ipv4Address: address,
    ipv6Address: LONG_ADDRESS,
  });
  await org.reaches(id, 'PARTIAL');
  const refused = { ipv4Address: '203.0.113.200', resourceIds: [full.id] };
  const { id: refusedSessionId } = await keeper.client.posted<{ id: string }>('/sessions', refused);
  await org.reaches(refusedSessionId, 'FAILED');
  const { id: webhookId } = await webhook(org, `http://127.0.0.1:9/${'W'.repeat(2000)}`);
  await delivered(org, webhookId);
  await waiting(org, org.identityProviderId);
  const mapping = { group: HOSTILE_NAME.padEnd(200, 'W'), roleId };
  const mapped = { groupsClaim: 'groups', groupMappings: [mapping] };
  await admin.patched(`/identity-providers/${org.identityProviderId}`, mapped);
  for (const crowd of CROWDS) await gathered(drawbridge, organizationId, crowd);
  await drawbridge.query(
    `INSERT INTO role_resources (role_id, resource_id, organization_id)
     SELECT $2, id, organization_id FROM resources WHERE organization_id = $1 ON CONFLICT DO NOTHING`,
    [organizationId, roleId],
  );
  await drawbridge.query(`UPDATE organizations SET name = rpad($2, 200, 'W') WHERE id = $1`, [
    organizationId,
    HOSTILE_NAME,
  ]);
  return Object.assign(org, { keeper, refusedSessionId, webhookId });
}

/** Copies a row of the organization many times, and gives all of its rows bad names, each its own. */
async function gathered(
  drawbridge: Drawbridge,
  organizationId: string,
  { table, copies, own, names = [], longest = 200 }: Crowd,
): Promise<void> {
  const changes = ["'id', copy.id", ...(own ? [own] : [])].join(', ');
  if (copies > 0)
    await drawbridge.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(known, jsonb_build_object(${changes}))).*
       FROM ${table} AS known, (SELECT gen_random_uuid() AS id FROM generate_series(1, $2::int)) AS copy
       WHERE known.id = (SELECT id FROM ${table} WHERE organization_id = $1 ORDER BY id LIMIT 1)`,
      [organizationId, copies],
    );
  if (names.length === 0) return;
  const named = names.map((name) => `${name} = rpad($2, ${longest - 36}, 'W') || id`);
  await drawbridge.query(`UPDATE ${table} SET ${named.join(', ')} WHERE organization_id = $1`, [
    organizationId,
    HOSTILE_NAME,
  ]);
}
