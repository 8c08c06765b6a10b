import { randomUUID } from 'node:crypto';
import type { AuditEntry, Tx } from '#entities';
import { ruleSpecs } from '#rules';
import { ResourceStore, SessionStore } from '#tenant-store';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

const ADDRESS = '203.0.113.1';
const SPECS = ruleSpecs(`${ADDRESS}/32`, { port: 22 }, 'one');
const AUDIT: AuditEntry = {
  eventType: 'SESSION_STARTED',
  actorType: 'SYSTEM',
  actorId: null,
  actorEmail: null,
  ipAddress: null,
  resourceType: 'SESSION',
  resourceId: null,
  resourceName: null,
};

describe('Requests for an address on a resource', () => {
  const database = ownDatabase(4);
  let rows: LedgerRows;
  let org: LedgerOrganization;
  let targetId: string;
  let resourceId: string;
  let keyId: string;

  beforeAll(async () => {
    rows = new LedgerRows(database);
  });
  beforeEach(async () => {
    org = await rows.organization();
    targetId = await rows.target();
    resourceId = await rows.resource(org, targetId);
    const [key] = await rows.rows<{ id: string }>(
      `WITH role AS (
         INSERT INTO roles (organization_id, name, max_session_duration_hours) VALUES ($1, 'Developers', 1) RETURNING id
       ), mine AS (
         INSERT INTO role_users (organization_id, role_id, user_id) SELECT $1, id, $2 FROM role
       ), held AS (
         INSERT INTO role_resources (organization_id, role_id, resource_id) SELECT $1, id, $3 FROM role
       ), verified AS (UPDATE resources SET is_active = true WHERE id = $3)
       INSERT INTO api_keys (organization_id, user_id, name, key_prefix, key_hash, scopes, created_by_email)
       VALUES ($1, $2, 'pipeline', 'dbk_', gen_random_uuid()::text, '{sessions:write}', '') RETURNING id`,
      [org.organizationId, org.userId, resourceId],
    );
    keyId = key!.id;
  });

  const start = (hours = 1): Promise<object | null> =>
    new SessionStore().start(
      database.autocommit,
      org.organizationId,
      {
        id: randomUUID(),
        userId: org.userId,
        holder: '',
        ipv4Address: ADDRESS,
        ipv6Address: null,
        hours,
        leaseSeconds: null,
        replaced: null,
        tokenHash: null,
        apiKeyId: keyId,
        reason: null,
        ticket: null,
        permission: { reasonPatterns: null, accessRequestId: null, brokenBy: null },
        holders: [{ resourceId, revision: 0, targetId, ipVersion: 4, ipAddress: ADDRESS, specs: SPECS }],
        limits: { perUser: 0, perServiceUser: 0 },
      },
      AUDIT,
    );

  /** Each is committed after the request was authorized and planned. `$1` is the organization. */
  it.each([
    ['the key is revoked', 'UPDATE api_keys SET revoked_at = now() WHERE organization_id = $1'],
    ['the key expires', 'UPDATE api_keys SET expires_at = now() WHERE organization_id = $1'],
    ['the user is deactivated', 'UPDATE users SET is_active = false WHERE organization_id = $1'],
    ['the user loses the role', 'DELETE FROM role_users WHERE organization_id = $1'],
    ['the role loses the resource', 'DELETE FROM role_resources WHERE organization_id = $1'],
    ['the role is deleted', 'DELETE FROM roles WHERE organization_id = $1'],
    ['the role asks for a reason', 'UPDATE roles SET require_reason = true WHERE organization_id = $1'],
    ['the role asks for approval', 'UPDATE roles SET approvals = 1 WHERE organization_id = $1'],
    ['the resource is deactivated', 'UPDATE resources SET is_active = false WHERE organization_id = $1'],
    ['the organization is suspended', 'UPDATE organizations SET suspended_at = now() WHERE id = $1'],
  ])('a session start holds no rule when %s before it', async (_, change) => {
    await rows.rows(change, [org.organizationId]);
    expect(await start()).toBeNull();
    expect(await rows.rows('SELECT 1 FROM rules WHERE target_id = $1', [targetId])).toEqual([]);
  });

  it('a session start by a label holds no rule when the resource has lost it before it', async () => {
    const label = (env: string): Promise<unknown> =>
      rows.rows('UPDATE resources SET labels = $2 WHERE id = $1', [resourceId, JSON.stringify({ env })]);
    await rows.rows('DELETE FROM role_resources WHERE organization_id = $1', [org.organizationId]);
    await rows.rows(
      `INSERT INTO role_selectors (organization_id, role_id, labels) SELECT $1, id, '{"env": "prod"}' FROM roles
       WHERE organization_id = $1`,
      [org.organizationId],
    );
    await label('test');
    expect(await start()).toBeNull();
    await label('prod');
    expect(await start()).not.toBeNull();
  });

  it('a session start holds no rule when its role allows less time, and one that it still allows does', async () => {
    expect(await start(2)).toBeNull();
    expect(await start(1)).not.toBeNull();
  });

  it.each([
    ['moved', 'target_id = $2, revision = revision + 1'],
    ['deleted', 'deleted_at = now(), target_id = $2'],
  ])(
    'a session start waits for a resource that is being %s, and holds no rule on its old target',
    async (_, change) => {
      const other = await rows.target();
      let started: Promise<object | null> = Promise.resolve(null);
      await database.transaction(async (tx: Tx) => {
        await new ResourceStore().lock(tx, org.organizationId, resourceId);
        started = start();
        await Promise.race([started, untilBlocked(database)]);
        await tx.query(`UPDATE resources SET ${change} WHERE id = $1`, [resourceId, other]);
      });
      expect(await started).toBeNull();
      expect(await rows.rows('SELECT 1 FROM rules WHERE target_id = ANY ($1)', [[targetId, other]])).toEqual(
        [],
      );
    },
  );
});
