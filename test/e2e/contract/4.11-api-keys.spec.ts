import { randomUUID } from 'node:crypto';
import type { Key } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer } from '../../builders/accounts/people';
import { logOf } from '../../builders/contract/request-lines';
import type { ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const FIELDS = [
  'agents',
  'createdAt',
  'createdByEmail',
  'description',
  'expiresAt',
  'id',
  'isRevoked',
  'keyPrefix',
  'lastUsedAt',
  'lastUsedIp',
  'name',
  'revokedAt',
  'scopes',
  'userEmail',
  'userId',
];
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
      expect(Object.keys(key).toSorted()).toEqual([...FIELDS, 'plainTextKey'].toSorted());
      expect(key).toMatchObject({
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
      ['no scopes', { scopes: undefined }, 'scopes'],
      ['empty scopes', { scopes: [] }, 'scopes'],
      ['an unknown scope', { scopes: ['sessions:read', 'sessions:all'] }, 'scopes'],
      ['scopes that are no array', { scopes: 'sessions:read' }, 'scopes'],
      ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
      ['an expiry that is no time', { expiresAt: 'soon' }, 'expiresAt'],
      ['a user that is no UUID', { userId: 'x' }, 'userId'],
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

    it('the record names the user the key acts for, which is its creator unless another is named', async () => {
      const user = await newcomer(drawbridge, admin);
      const own = await made();
      expect(own).toMatchObject({ userId: org.adminId, userEmail: own.createdByEmail });
      expect(await made({ userId: user.id })).toMatchObject({ userId: user.id, userEmail: user.email });
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
    it('is a plain array of records, newest first, without the keys, with total and links', async () => {
      const own = await founder(drawbridge);
      const scopes = ['agent:connect'];
      const one = await made({ scopes, name: 'one' }, own.client);
      const two = await made({ scopes, name: 'two' }, own.client);
      const all = await own.client.get<Key[]>('/api-keys');
      expect(all.body.map(({ id }) => id)).toEqual([two.id, one.id]);
      expect(Object.keys(all.body[0]!).toSorted()).toEqual(FIELDS);
      expect(all.headers.get('X-Total-Count')).toBe('2');
      expect(all.body[0]!.createdByEmail).toBe(own.email);
      const first = await own.client.get<Key[]>('/api-keys?size=1');
      expect(first.body.map(({ id }) => id)).toEqual([two.id]);
      expect(first.headers.get('Link')).toMatch(/page=1.*rel="next"/);
      expect((await own.client.get('/api-keys?size=101')).status).toBe(400);
    });

    it('filters by the user the keys act for', async () => {
      const user = await newcomer(drawbridge, admin);
      const key = await made({ userId: user.id });
      const found = await admin.get<Key[]>(`/api-keys?userId=${user.id}`);
      expect(found.body).toMatchObject([{ id: key.id, userId: user.id, userEmail: user.email }]);
      expect(found.headers.get('X-Total-Count')).toBe('1');
      expect((await admin.get('/api-keys?userId=nobody')).status).toBe(400);
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
