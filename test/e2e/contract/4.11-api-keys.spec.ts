import { randomUUID } from 'node:crypto';
import type { Key } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer } from '../../builders/accounts/people';
import { logOf } from '../../builders/contract/request-lines';
import type { ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const PAID_SCOPES = ['sessions:read', 'sessions:write', 'resources:read', 'audit:read'];

const drawbridge = Drawbridge.shared({ worker: false });
const org = ownOrganization(drawbridge);
let admin: ApiClient;
const stranger = ownOrganization(drawbridge, [{ group: group(1) }]);
let addresses = 0;

beforeAll(async () => {
  admin = org.admin;
});

const made = (body: object = {}, by = admin): Promise<Key> =>
  by.created<Key>('/api-keys', { name: 'pipeline', scopes: ['sessions:read'], ...body });
const listed = async (id: string): Promise<Key> => {
  const keys = await admin.expect(200, admin.get<Key[]>('/api-keys'));
  return keys.find((key) => key.id === id)!;
};
const using = ({ plainTextKey }: Key): ApiClient => drawbridge.api.as({ apiKey: plainTextKey });
const freshAddress = (): string => `198.51.100.${(addresses += 1)}`;

describe('4.11 API keys', () => {
  describe('POST /api-keys', () => {
    it('answers 201 with the record and, this once, the key', async () => {
      const key = await made({ name: ' build ', description: 'builds', scopes: PAID_SCOPES });
      expect(key).toMatchObject({
        userId: org.adminId,
        userEmail: key.createdByEmail,
        name: 'build',
        description: 'builds',
        scopes: PAID_SCOPES,
        isRevoked: false,
        revokedAt: null,
        expiresAt: null,
        lastUsedAt: null,
        lastUsedIp: null,
      });
      expect(await audited(drawbridge, org.organizationId, 'API_KEY_CREATED')).toContainEqual(
        expect.objectContaining({ resourceId: key.id }),
      );
    });

    it('makes keys that are recognised by their beginning, and keeps only a SHA-256', async () => {
      const key = await made();
      expect(key.plainTextKey).toMatch(/^dbk_[0-9A-Za-z]{36}$/);
      expect(key.plainTextKey.startsWith(key.keyPrefix)).toBe(true);
      expect(key.keyPrefix.length).toBeLessThan(16);
      const [row] = await drawbridge.query<{ hash: string; sha: string; row: string }>(
        `SELECT key_hash AS hash, encode(sha256($2::bytea), 'hex') AS sha, to_jsonb(k)::text AS row
         FROM api_keys k WHERE id = $1`,
        [key.id, Buffer.from(key.plainTextKey)],
      );
      expect(row!.hash).toBe(row!.sha);
      const trail = await drawbridge.query('SELECT details FROM audit_records');
      await drawbridge.api.as({ apiKey: key.plainTextKey }).get('/sessions');
      for (const text of [row!.row, JSON.stringify(trail), await logOf(drawbridge)])
        expect(text).not.toContain(key.plainTextKey);
    });

    it.each([
      ['no name', { name: undefined }, 'name'],
      ['a blank name', { name: ' ' }, 'name'],
      ['empty scopes', { scopes: [] }, 'scopes'],
      ['an unknown scope', { scopes: ['sessions:read', 'sessions:all'] }, 'scopes'],
      ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ])('refuses %s with 400 and names the field', async (_, body, field) => {
      const asked = { name: 'k', scopes: ['sessions:read'], ...body };
      const answer = await admin.post<{ validationErrors: object }>('/api-keys', asked);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.validationErrors)).toEqual([field]);
    });

    it('null for what may be left out is the same as leaving it out', async () => {
      const key = await made({ description: null, expiresAt: null, userId: null });
      expect(key).toMatchObject({ description: null, expiresAt: null });
    });

    it.each(PAID_SCOPES)('refuses %s on the Free plan with 403', async (scope) => {
      const free = await founder(drawbridge);
      const body = { name: 'k', scopes: ['agent:connect', scope] };
      const answer = await free.client.post('/api-keys', body);
      expect(answer).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining(scope) as string },
      });
    });

    it('makes keys with agent:connect on the Free plan', async () => {
      const free = await founder(drawbridge);
      expect((await made({ scopes: ['agent:connect'] }, free.client)).scopes).toEqual(['agent:connect']);
    });

    it('for another user of the organization: its sessions belong to that user; the record names the creator of the key', async () => {
      const user = await newcomer(drawbridge, admin, { roleIds: [org.roleId] });
      const key = await made({ userId: user.id, scopes: ['sessions:write'] });
      const started = await using(key).post<Session>('/sessions', { ipv4Address: freshAddress() });
      expect(started).toMatchObject({ status: 200, body: { userId: user.id } });
      expect(key.createdByEmail).not.toBe(user.email);
      expect(await audited(drawbridge, org.organizationId, 'SESSION_STARTED')).toContainEqual(
        expect.objectContaining({
          actorType: 'API_KEY',
          resourceId: started.body.id,
          details: expect.objectContaining({ apiKey: 'pipeline' }) as object,
        }),
      );
    });

    it('refuses audit:read for a user without admin rights with 400 and names the scope', async () => {
      const user = await newcomer(drawbridge, admin);
      const asked = { name: 'k', scopes: ['sessions:read', 'audit:read'], userId: user.id };
      const answer = await admin.post<{ validationErrors: { scopes: string } }>('/api-keys', asked);
      expect(answer.status).toBe(400);
      expect(answer.body.validationErrors.scopes).toContain('audit:read');
      expect((await made({ scopes: ['audit:read'] })).scopes).toEqual(['audit:read']);
    });

    it('for a missing or inactive user, or another organization’s: 404', async () => {
      const gone = await newcomer(drawbridge, admin);
      await admin.expect(200, admin.patch(`/users/${gone.id}`, { isActive: false }));
      for (const userId of [randomUUID(), gone.id, stranger.adminId]) {
        const answer = await admin.post('/api-keys', { name: 'k', scopes: ['sessions:read'], userId });
        expect(answer.status).toBe(404);
      }
    });
  });

  describe('GET /api-keys', () => {
    it('lists the newest first, without the keys, and filters by the user they act for', async () => {
      const user = await newcomer(drawbridge, admin);
      const [one, two] = [await made({ userId: user.id }), await made({ userId: user.id })];
      await made();
      const { body } = await admin.get<Key[]>(`/api-keys?userId=${user.id}`);
      expect(body).toMatchObject([{ id: two.id, userEmail: user.email }, { id: one.id }]);
      expect(body[0]).not.toHaveProperty('plainTextKey');
    });

    it('shows when and from where a key was used last', async () => {
      const key = await made();
      await using(key).expect(200, using(key).get('/sessions'));
      const { lastUsedAt, lastUsedIp } = await listed(key.id);
      expect(Math.abs(Date.parse(lastUsedAt!) - Date.now())).toBeLessThan(60_000);
      expect(lastUsedIp).toBe('127.0.0.1');
    });
  });

  describe('DELETE /api-keys/{id}', () => {
    it('answers 204; the key counts for nothing from the next request on, the record stays', async () => {
      const key = await made();
      expect((await using(key).get('/sessions')).status).toBe(200);
      const answer = await admin.delete(`/api-keys/${key.id}`);
      expect([answer.status, answer.body]).toEqual([204, null]);
      expect((await using(key).get('/sessions')).status).toBe(401);
      expect(await listed(key.id)).toMatchObject({
        isRevoked: true,
        revokedAt: expect.any(String) as string,
      });
      expect(await audited(drawbridge, org.organizationId, 'API_KEY_REVOKED')).toContainEqual(
        expect.objectContaining({ resourceId: key.id }),
      );
    });

    it('answers 404 for a key that is missing, revoked already, or another organization’s, which stays', async () => {
      const foreign = await made({}, stranger.admin);
      const revoked = await made();
      await admin.expect(204, admin.delete(`/api-keys/${revoked.id}`));
      for (const id of [randomUUID(), revoked.id, foreign.id])
        expect((await admin.delete(`/api-keys/${id}`)).status).toBe(404);
      expect((await using(foreign).get('/sessions')).status).toBe(200);
    });
  });
});

describe('5.2 API keys as credentials', () => {
  let all: Key;

  beforeAll(async () => {
    all = await made({ scopes: [...PAID_SCOPES, 'agent:connect'] });
  });

  it.each([
    ['X-API-Key', (key: string) => ({ 'X-API-Key': key })],
    ['Authorization: ApiKey', (key: string) => ({ Authorization: `ApiKey ${key}` })],
  ])('%s is taken on every endpoint of the table', async (_, header) => {
    const { id } = await org.started({ ipv4Address: freshAddress() });
    for (const [method, path, body] of [
      ['GET', '/sessions'],
      ['GET', `/sessions/${id}`],
      ['POST', '/sessions', { ipv4Address: freshAddress() }],
      ['POST', `/sessions/${id}/extend`, { additionalHours: 1 }],
      ['POST', `/sessions/${id}/stop`],
      ['GET', '/resources'],
      ['GET', `/resources/${org.resourceIds[0]}`],
    ] as const) {
      const answer = await drawbridge.api.send(method, path, body, header(all.plainTextKey));
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    }
  });

  it('an unknown key, a mistyped one and one that is none get 401', async () => {
    const last = all.plainTextKey.at(-1) === 'a' ? 'b' : 'a';
    for (const apiKey of [`dbk_${'x'.repeat(36)}`, all.plainTextKey.slice(0, -1) + last, 'nonsense'])
      expect((await drawbridge.api.as({ apiKey }).get('/sessions')).status).toBe(401);
  });

  it('an expired key gets 401, one without an end works until it is revoked', async () => {
    const key = await made({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await using(key).get('/sessions')).status).toBe(200);
    await drawbridge.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]);
    expect((await using(key).get('/sessions')).status).toBe(401);
    await drawbridge.query(`UPDATE api_keys SET created_at = now() - interval '5 years' WHERE id = $1`, [
      all.id,
    ]);
    expect((await using(all).get('/sessions')).status).toBe(200);
  });

  it('a key never exceeds its user, also when the user is no admin any more', async () => {
    const user = await newcomer(drawbridge, admin, { isOrgAdmin: true });
    const key = using(await made({ userId: user.id }));
    const { id } = await org.started({ ipv4Address: freshAddress() });
    expect((await key.get(`/sessions/${id}`)).status).toBe(200);
    await admin.expect(200, admin.patch(`/users/${user.id}`, { isOrgAdmin: false }));
    expect((await key.get(`/sessions/${id}`)).status).toBe(403);
    await admin.expect(200, admin.patch(`/users/${user.id}`, { isActive: false }));
    expect((await key.get('/sessions')).status).toBe(401);
  });
});
