import { AuthorizeSecurityGroupIngressCommand, EC2Client } from '@aws-sdk/client-ec2';
import { formatMark } from '#rules';
import { group, SIMULATED_KEY, type Organization } from '../accounts/organization';

export interface SeedPlan {
  /** the first security group, and how many; sessions are distributed in turn */
  readonly firstGroup: number;
  readonly groups: number;
  readonly sessions: number;
  /** of the resources; `eu-central-1` unless given */
  readonly region?: string;
  /** negative: already expired */
  readonly expiresInSeconds: number;
  /** number of sessions seeded in this database before: each has an address of its own */
  readonly before?: number;
}

export interface SeededRule {
  readonly ruleId: string;
  readonly group: string;
  readonly address: string;
}

const AT_ONCE = 20_000;

/** Inserts ACTIVE sessions into the database, thousands in a second, without rules in the cloud. */
export async function seedSessions(org: Organization, plan: SeedPlan): Promise<SeededRule[]> {
  await seedResources(org, plan);
  const seeded: SeededRule[] = [];
  for (let done = 0; done < plan.sessions; done += AT_ONCE) {
    seeded.push(...(await seedSome(org, plan, done, Math.min(AT_ONCE, plan.sessions - done))));
  }
  await org.drawbridge.query('ANALYZE');
  return seeded;
}

const regionOf = ({ region }: SeedPlan): string => region ?? 'eu-central-1';

const groupsOf = ({ firstGroup, groups }: SeedPlan): string[] =>
  Array.from({ length: groups }, (_, index) => group(firstGroup + index));

/** Verified and compared just now, so that only the sessions are due. */
async function seedResources(org: Organization, plan: SeedPlan): Promise<void> {
  await org.drawbridge.query(
    `WITH place AS (
       INSERT INTO targets (provider, key, resource_type, identifier, reconcile_due_at)
       SELECT 'AWS', 'AWS:security-group:' || name, 'SECURITY_GROUP', name, now() + interval '1 hour'
       FROM unnest($1::text[]) name
       ON CONFLICT (key) DO UPDATE SET reconcile_due_at = excluded.reconcile_due_at RETURNING id, identifier
     )
     INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, region,
       is_active, last_verified_at, verify_due_at, target_id)
     SELECT $2, identifier, $3, 'AWS', 'SECURITY_GROUP', identifier, $4, true, now(),
       now() + interval '1 hour', id FROM place`,
    [groupsOf(plan), org.organizationId, org.credentialId, regionOf(plan)],
  );
}

function seedSome(org: Organization, plan: SeedPlan, done: number, count: number): Promise<SeededRule[]> {
  return org.drawbridge.query<SeededRule>(
    `WITH plan AS (
       SELECT gen_random_uuid() AS session_id, gen_random_uuid() AS ip_id, gen_random_uuid() AS rule_id,
         ($1::text[])[1 + n % $2] AS name, host('10.0.0.0'::inet + n + $6::int + 1) AS address
       FROM generate_series($7::int, $8::int) n
     ), place AS (
       SELECT plan.*, r.id AS resource_id, r.target_id FROM plan
       JOIN resources r ON r.organization_id = $3 AND r.name = plan.name
     ), session AS (
       INSERT INTO sessions (id, organization_id, user_id, ipv4_address, status, expires_at)
       SELECT session_id, $3, $4, address, 'ACTIVE', now() + make_interval(secs => $9) FROM place
     ), ip AS (
       INSERT INTO resource_ips (id, organization_id, session_id, resource_id, resource_name, ip_version, ip_address,
         status, applied_at)
       SELECT ip_id, $3, session_id, resource_id, name, 4, address, 'APPLIED', now() FROM place
     ), rule AS (
       INSERT INTO rules (id, target_id, key, address, protocol, ports, state, credential_id, region)
       SELECT rule_id, target_id, address || '/32 tcp 22', address || '/32', 'tcp', '22', 'present', $5, $10
       FROM place
     ), holder AS (
       INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT rule_id, ip_id FROM place
     )
     SELECT rule_id AS "ruleId", name AS "group", address FROM place`,
    [
      groupsOf(plan),
      plan.groups,
      org.organizationId,
      org.adminId,
      org.credentialId,
      plan.before ?? 0,
      done,
      done + count - 1,
      plan.expiresInSeconds,
      regionOf(plan),
    ],
  );
}

/** Regions to write in: each has its own rate limit, and the simulated groups are the same in all. */
const REGIONS = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'eu-north-1', 'eu-west-1'];

/** Adds seeded rules to the simulated cloud, with our mark, as the product would. */
export async function openInCloud(org: Organization, rules: readonly SeededRule[]): Promise<void> {
  // as the product does in the worker
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const clients = REGIONS.map(
    (region) =>
      new EC2Client({
        region,
        endpoint: `${org.drawbridge.cloud.url}/aws/ec2`,
        credentials: SIMULATED_KEY,
        maxAttempts: 1,
      }),
  );
  const byGroup = new Map<string, SeededRule[]>();
  for (const rule of rules) byGroup.set(rule.group, [...(byGroup.get(rule.group) ?? []), rule]);
  let turn = 0;
  for (const [GroupId, members] of byGroup) {
    const IpRanges = members.map(({ ruleId, address }) => ({
      CidrIp: `${address}/32`,
      Description: formatMark({ deployment: 'test', ruleId, expiresAt: null }),
    }));
    await clients[(turn += 1) % clients.length]!.send(
      new AuthorizeSecurityGroupIngressCommand({
        GroupId,
        IpPermissions: [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges }],
      }),
    );
  }
  for (const client of clients) client.destroy();
}
