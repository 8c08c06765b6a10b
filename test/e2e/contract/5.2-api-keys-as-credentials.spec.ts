import type { Key } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { newcomer, paid, type Person } from '../../builders/accounts/people';
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
const using = ({ plainTextKey }: Key): ApiClient => drawbridge.api.as({ apiKey: plainTextKey });
const freshAddress = (): string => `198.51.100.${(addresses += 1)}`;

describe('5.2 API keys as credentials', () => {
  let all: Key;
  let session: Session;

  beforeAll(async () => {
    all = await made({ scopes: [...PAID_SCOPES, 'agent:connect'] });
    session = await org.started({ ipv4Address: freshAddress() });
  });

  /** The endpoints of the contract's table. */
  const table = (): { method: string; path: string; body?: object }[] => [
    { method: 'GET', path: '/sessions' },
    { method: 'GET', path: `/sessions/${session.id}` },
    { method: 'POST', path: '/sessions', body: { ipv4Address: freshAddress() } },
    {
      method: 'POST',
      path: `/sessions/${session.id}/extend`,
      body: { additionalHours: 1 },
    },
    { method: 'POST', path: `/sessions/${session.id}/stop` },
    { method: 'GET', path: '/resources' },
    { method: 'GET', path: `/resources/${org.resourceIds[0]}` },
  ];

  it.each([
    ['X-API-Key', (key: string) => ({ 'X-API-Key': key })],
    ['Authorization: ApiKey', (key: string) => ({ Authorization: `ApiKey ${key}` })],
  ])('%s is taken on every endpoint of the table', async (_, header) => {
    session = await org.started({ ipv4Address: freshAddress() });
    for (const { method, path, body } of table()) {
      const answer = await drawbridge.api.send(method, path, body, header(all.plainTextKey));
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    }
  });

  it('an unknown key, a mistyped one and one that is none get 401', async () => {
    const last = all.plainTextKey.at(-1) === 'a' ? 'b' : 'a';
    for (const apiKey of [`dbk_${'x'.repeat(36)}`, all.plainTextKey.slice(0, -1) + last, 'nonsense'])
      expect((await drawbridge.api.as({ apiKey }).get('/sessions')).status).toBe(401);
  });

  it('a key sent as Bearer gets 401 with a message that names the right header', async () => {
    const answer = await drawbridge.api.as({ token: all.plainTextKey }).get('/sessions');
    expect(answer).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('X-API-Key') as string },
    });
    expect(JSON.stringify(answer.body)).not.toContain(all.plainTextKey);
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

  describe('back on Free', () => {
    const own = ownOrganization(drawbridge);
    let key: ApiClient;
    let running: Session;

    beforeAll(async () => {
      key = await own.apiKey(PAID_SCOPES);
      running = await own.started({ ipv4Address: freshAddress() });
      await paid(drawbridge, own.organizationId, 'FREE');
    });

    it('a key neither starts nor extends a session, and reads no resources and no audit records: 403', async () => {
      const { id } = running;
      const answers = [
        await key.post('/sessions', { ipv4Address: freshAddress() }),
        await key.post(`/sessions/${id}/extend`, { additionalHours: 1 }),
        await key.get('/resources'),
        await key.get('/audit-logs'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    });

    it('a key still lists, reads and stops a running session of its user', async () => {
      const listed = await key.expect(200, key.get<Session[]>('/sessions?active=true'));
      expect(listed.map(({ id }) => id)).toEqual([running.id]);
      expect((await key.get(`/sessions/${running.id}`)).status).toBe(200);
      const stopped = await key.posted<Session>(`/sessions/${running.id}/stop`);
      expect(stopped.status).toBe('EXPIRING');
    });

    it('a key works in full again once the organization is on Paid', async () => {
      await paid(drawbridge, own.organizationId);
      expect((await key.post('/sessions', { ipv4Address: freshAddress() })).status).toBe(200);
    });
  });

  it('a key sees its organization only', async () => {
    const foreign = await stranger.started({ ipv4Address: freshAddress() });
    expect((await using(all).get(`/sessions/${foreign.id}`)).status).toBe(404);
    expect((await using(all).get(`/resources/${stranger.resourceIds[0]}`)).status).toBe(404);
  });

  it('a key never exceeds its user, also when the user is no admin any more', async () => {
    const user: Person = await newcomer(drawbridge, admin, { isOrgAdmin: true });
    const key = using(await made({ userId: user.id }));
    session = await org.started({ ipv4Address: freshAddress() });
    expect((await key.get(`/sessions/${session.id}`)).status).toBe(200);
    await admin.expect(200, admin.patch(`/users/${user.id}`, { isOrgAdmin: false }));
    expect((await key.get(`/sessions/${session.id}`)).status).toBe(403);
    await admin.expect(200, admin.patch(`/users/${user.id}`, { isActive: false }));
    expect((await key.get('/sessions')).status).toBe(401);
  });
});
