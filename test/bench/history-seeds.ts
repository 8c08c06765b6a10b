import { Client } from 'pg';
import type { Organization } from '../builders/accounts/organization';
import type { Drawbridge } from '../harness/product/drawbridge';

interface Seeded {
  readonly drawbridge: Drawbridge;
  readonly org: Organization;
}

/** The address of all ended sessions of the first resource. */
export const CROWDED_ADDRESS = '198.51.100.7';

/** Foreign keys of a million seeded rows are valid by construction; checking them would take most of the time. */
async function seed(url: string, ...statements: [string, unknown[]][]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    await client.query(`SET statement_timeout = 0`);
    for (const [statement, values] of statements) await client.query(statement, values);
  } finally {
    await client.end();
  }
}

/** Inserts $4 ended sessions on resource $3. @param address SQL expression for the address of session n */
const endedSessions = (address: string): string => `WITH plan AS (
    SELECT gen_random_uuid() AS session_id, ${address} AS address, now() - interval '1 minute' * (n + 60) AS ended_at
    FROM generate_series(1, $4::int) n
  ), session AS (
    INSERT INTO sessions (id, organization_id, user_id, ipv4_address, status, started_at, expires_at, ended_at,
      ended_reason, created_at)
    SELECT session_id, $1, $2, address, 'EXPIRED', ended_at - interval '1 hour', ended_at, ended_at, 'EXPIRED',
      ended_at - interval '1 hour' FROM plan
  )
  INSERT INTO resource_ips (organization_id, session_id, resource_id, resource_name, ip_version, ip_address, status,
    pending_since, applied_at, released_at, removed_at, created_at)
  SELECT $1, session_id, $3, 'seeded', 4, address, 'REMOVED', ended_at - interval '1 hour', ended_at - interval '1 hour',
    ended_at, ended_at, ended_at - interval '1 hour' FROM plan`;

/** Ended sessions of one address on the first resource. */
export function seedEndedSessions({ drawbridge, org }: Seeded, count: number): Promise<void> {
  const values = [org.organizationId, org.adminId, org.resourceIds[0], count];
  return seed(drawbridge.ownerUrl, [endedSessions(`'${CROWDED_ADDRESS}'::text`), values]);
}

/** Ended sessions on the second resource, each with its own address. */
export function seedPastAddresses({ drawbridge, org }: Seeded, count: number): Promise<void> {
  const values = [org.organizationId, org.adminId, org.resourceIds[1], count];
  return seed(drawbridge.ownerUrl, [endedSessions(`host('10.0.0.0'::inet + n)`), values]);
}

export interface ListSeed {
  readonly count: number;
  /** of the oldest sessions that are rare */
  readonly rare: number;
  readonly rareUserId: string;
}

/**
 * Ended sessions, one a minute, with three audit records each. The oldest ones, which a walk from the newest finds last,
 * are the only FAILED ones, the only ones on the second resource, and the only ones of another user.
 */
export function seedLists({ drawbridge, org }: Seeded, { count, rare, rareUserId }: ListSeed): Promise<void> {
  return seed(
    drawbridge.ownerUrl,
    [
      `CREATE TEMP TABLE plan AS
       SELECT gen_random_uuid() AS id, n > ${count - rare} AS is_rare, now() - interval '1 minute' * (n + 60) AS ended_at
       FROM generate_series(1, ${count}) n`,
      [],
    ],
    [
      `INSERT INTO sessions (id, organization_id, user_id, ipv4_address, status, started_at, expires_at, ended_at,
         ended_reason, created_at)
       SELECT id, $1, CASE WHEN is_rare THEN $3::uuid ELSE $2 END, '${CROWDED_ADDRESS}',
         CASE WHEN is_rare THEN 'FAILED' ELSE 'EXPIRED' END, ended_at - interval '1 hour', ended_at, ended_at, 'EXPIRED',
         ended_at - interval '1 hour' FROM plan ORDER BY ended_at`,
      [org.organizationId, org.adminId, rareUserId],
    ],
    [
      `INSERT INTO resource_ips (organization_id, session_id, resource_id, resource_name, ip_version, ip_address, status,
         pending_since, applied_at, released_at, removed_at, created_at)
       SELECT $1, id, CASE WHEN is_rare THEN $3::uuid ELSE $2 END, 'seeded', 4, '${CROWDED_ADDRESS}', 'REMOVED',
         ended_at - interval '1 hour', ended_at - interval '1 hour', ended_at, ended_at, ended_at - interval '1 hour'
       FROM plan ORDER BY ended_at`,
      [org.organizationId, ...org.resourceIds.slice(0, 2)],
    ],
    [
      `INSERT INTO audit_records (organization_id, event_type, actor_type, actor_id, actor_email, resource_type,
         resource_id, details, timestamp)
       SELECT $1, e.type, e.actor, CASE WHEN e.actor = 'USER' THEN u.id END, CASE WHEN e.actor = 'USER' THEN u.email END,
         'SESSION', p.id, jsonb_build_object('userId', u.id), p.ended_at - e.before
       FROM plan p JOIN users u ON u.id = CASE WHEN is_rare THEN $3::uuid ELSE $2 END
       CROSS JOIN LATERAL (VALUES ('SESSION_STARTED', 'USER', interval '1 hour'),
         ('SESSION_ACTIVATED', 'SYSTEM', interval '59 minutes'),
         (CASE WHEN is_rare THEN 'SESSION_FAILED' ELSE 'SESSION_EXPIRED' END, 'SYSTEM', interval '0')) e(type, actor, before)
       ORDER BY p.ended_at - e.before`,
      [org.organizationId, org.adminId, rareUserId],
    ],
  );
}

export interface Crowd {
  /** of the organization, and of as many others as have all people */
  readonly people: number;
  readonly allPeople: number;
  /** of the organization, with one of ten labels each; a role selects by each label, and has a tenth of the people */
  readonly resources: number;
}

/** An organization with many people and resources, among others of its size. */
export function seedCrowd(
  { drawbridge, org }: Seeded,
  { people, allPeople, resources }: Crowd,
): Promise<void> {
  const { organizationId, credentialId } = org;
  return seed(
    drawbridge.ownerUrl,
    [
      `CREATE TEMP TABLE o AS SELECT n, CASE n WHEN 0 THEN $1::uuid ELSE gen_random_uuid() END AS id
       FROM generate_series(0, $2::int) n`,
      [organizationId, Math.ceil(allPeople / people) - 1],
    ],
    [`INSERT INTO organizations (id, name, slug) SELECT id, 'Example', id::text FROM o WHERE n > 0`, []],
    [
      `INSERT INTO users (organization_id, email, name, created_at)
       SELECT o.id, 'person-' || p || '@example.com', 'Person ' || md5(p::text), now() - interval '1 minute' * p
       FROM o, generate_series(1, $1::int) p`,
      [people],
    ],
    [
      `WITH place AS (
         INSERT INTO targets (provider, key, resource_type, identifier, reconcile_due_at)
         SELECT 'AWS', 'crowd ' || o.n || ' ' || r, 'SECURITY_GROUP', 'sg-' || r, 'infinity' FROM o, generate_series(1, $1::int) r
         RETURNING id, key
       )
       INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id,
         is_active, labels)
       SELECT o.id, 'database ' || split_part(place.key, ' ', 3), $2, 'AWS', 'SECURITY_GROUP', 'sg-' || split_part(place.key, ' ', 3),
         place.id, true, jsonb_build_object('drawbridge/all', 'yes', 'team', 't' || split_part(place.key, ' ', 3)::int % 10)
       FROM place JOIN o ON o.n = split_part(place.key, ' ', 2)::int`,
      [resources, credentialId],
    ],
    [
      `INSERT INTO roles (organization_id, name, resource_selector)
       SELECT $1, 'team ' || n, jsonb_build_object('team', jsonb_build_array('t' || n)) FROM generate_series(0, 9) n`,
      [organizationId],
    ],
    [
      `INSERT INTO role_selectors (organization_id, role_id, labels)
       SELECT organization_id, id, jsonb_build_object('team', 't' || split_part(name, ' ', 2)) FROM roles
       WHERE organization_id = $1 AND resource_selector IS NOT NULL`,
      [organizationId],
    ],
    [
      `INSERT INTO role_users (organization_id, role_id, user_id)
       SELECT $1, r.id, u.id FROM roles r JOIN users u ON u.organization_id = $1 AND u.email LIKE 'person-%'
         AND split_part(split_part(u.email, '@', 1), '-', 2)::int % 10 = split_part(r.name, ' ', 2)::int
       WHERE r.organization_id = $1 AND r.resource_selector IS NOT NULL`,
      [organizationId],
    ],
  );
}

export async function vacuum(drawbridge: Drawbridge): Promise<void> {
  await drawbridge.query('VACUUM ANALYZE');
  await drawbridge.query('CHECKPOINT');
}

export interface SweepCounts {
  readonly targets: number;
  readonly rules: number;
  /** number of due rules; a tenth of them are to be closed, some were tried before */
  readonly due: number;
  readonly organizations: number;
}

/** Targets and rules of many organizations; one resource points at each target. */
export function seedSweep(url: string, { targets, rules, due, organizations }: SweepCounts): Promise<void> {
  return seed(
    url,
    [
      'CREATE TEMP TABLE o AS SELECT n, gen_random_uuid() AS id FROM generate_series(0, $1::int - 1) n',
      [organizations],
    ],
    [
      'CREATE TEMP TABLE t AS SELECT n, gen_random_uuid() AS id FROM generate_series(0, $1::int - 1) n',
      [targets],
    ],
    [`INSERT INTO organizations (id, name, slug) SELECT id, 'Example', id::text FROM o`, []],
    [
      `INSERT INTO targets (id, provider, key, resource_type, identifier, reconcile_due_at, accounted_to)
       SELECT t.id, 'AWS', t.id::text, 'SECURITY_GROUP', t.id::text, now() + interval '45 seconds' * random(), o.id
       FROM t JOIN o ON o.n = t.n % $1::int`,
      [organizations],
    ],
    [
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id,
         is_active)
       SELECT o.id, 'r', gen_random_uuid(), 'AWS', 'SECURITY_GROUP', t.id::text, t.id, true FROM t JOIN o ON o.n = t.n % $1::int`,
      [organizations],
    ],
    [
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, due_at, closing, attempts, accounted_to)
       SELECT t.id, rule::text, '10.0.0.1/32', 'tcp', '22', 'present',
         CASE WHEN rule < $3::int THEN now() - interval '1 hour' * random() END,
         rule < $3::int AND rule % 10 = 0, (rule / 7) % 3, o.id
       FROM generate_series(0, $2::int - 1) rule JOIN t ON t.n = (rule::bigint * 7919) % $4::int JOIN o ON o.n = t.n % $1::int`,
      [organizations, rules, due, targets],
    ],
    ['VACUUM ANALYZE', []],
    // otherwise the seeded rows are written to disk during the measurement
    ['CHECKPOINT', []],
  );
}
