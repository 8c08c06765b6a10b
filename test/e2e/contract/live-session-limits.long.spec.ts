import type { Key, User } from '../../builders/contract/answers';
import { ownOrganization } from '../../builders/accounts/organization';
import { newcomer, type Person } from '../../builders/accounts/people';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const PER_USER = 5;
const PER_SERVICE_USER = 8;

const drawbridge = Drawbridge.own({
  worker: false,
  api: {
    MAX_LIVE_SESSIONS_PER_USER: String(PER_USER),
    MAX_LIVE_SESSIONS_PER_SERVICE_USER: String(PER_SERVICE_USER),
  },
});
const org = ownOrganization(drawbridge);
let addresses = 0;

const fresh = (): { ipv4Address: string } => ({ ipv4Address: `198.51.100.${(addresses += 1)}` });
const starting = (client: ApiClient, headers = {}): Promise<Answer<Session & { message: string }>> =>
  client.send('POST', '/sessions', fresh(), headers);
const started = (client: ApiClient): Promise<Session> => client.expect(200, starting(client));
const member = (): Promise<Person> => newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });

async function full(): Promise<{ person: Person; sessions: Session[] }> {
  const person = await member();
  const sessions: Session[] = [];
  for (let index = 0; index < PER_USER; index += 1) sessions.push(await started(person.client));
  return { person, sessions };
}

const liveOf = async (userId: string): Promise<number> => {
  const live = await org.admin.get<Session[]>(`/sessions/admin?userId=${userId}&active=true`);
  return live.body.length;
};

async function robot(): Promise<{ id: string; client: ApiClient }> {
  const { admin } = org;
  const body = { isService: true, name: `robot ${addresses}`, roleIds: [org.roleId] };
  const { id } = await admin.created<User>('/users', body);
  const asked = { name: 'k', scopes: ['sessions:write'], userId: id };
  const { plainTextKey } = await admin.created<Key>('/api-keys', asked);
  return { id, client: drawbridge.api.as({ apiKey: plainTextKey }) };
}

describe('Live sessions of one user', () => {
  it('beyond the limit: 409 that names it and what to do', async () => {
    const { person } = await full();
    const { status, body } = await starting(person.client);
    expect([status, body.message]).toEqual([
      409,
      `You have ${PER_USER} live sessions, the most a user may have: stop one, or let one end`,
    ]);
    expect(await liveOf(person.id)).toBe(PER_USER);
  });

  it('a stopped session makes room for another', async () => {
    const { person, sessions } = await full();
    await person.client.posted(`/sessions/${sessions[0]!.id}/stop`);
    await started(person.client);
    expect((await starting(person.client)).status).toBe(409);
  });

  it('sessions over IPv6 only count as well, and one with both addresses counts once', async () => {
    const person = await member();
    const given = [
      { ipv6Address: '2001:db8::1' },
      { ipv6Address: '2001:db8::2', ...fresh() },
      ...[0, 1, 2].map(fresh),
    ];
    for (const body of given) await person.client.posted('/sessions', body);
    expect((await starting(person.client)).status).toBe(409);
  });

  it('another user is not held back', async () => {
    await full();
    expect((await starting((await member()).client)).status).toBe(200);
  });

  it('twenty parallel starts at the limit never exceed it', async () => {
    const person = await member();
    await started(person.client);
    const answers = await Promise.all(Array.from({ length: 20 }, () => starting(person.client)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(PER_USER - 1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(20 - (PER_USER - 1));
    expect(await liveOf(person.id)).toBe(PER_USER);
  });

  it('so do twenty with Idempotency-Keys', async () => {
    const person = await member();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        starting(person.client, { 'Idempotency-Key': `${person.id}-${index}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_USER);
    expect(await liveOf(person.id)).toBe(PER_USER);
  });

  it('a refused Idempotency-Key starts a session once there is room', async () => {
    const { person, sessions } = await full();
    const key = { 'Idempotency-Key': `${person.id}-again` };
    const body = fresh();
    expect((await person.client.send('POST', '/sessions', body, key)).status).toBe(409);
    await person.client.posted(`/sessions/${sessions[0]!.id}/stop`);
    expect((await person.client.send('POST', '/sessions', body, key)).status).toBe(200);
  });

  it('a service user has a limit of its own', async () => {
    const { id, client } = await robot();
    const answers = await Promise.all(Array.from({ length: 12 }, () => starting(client)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_SERVICE_USER);
    expect(await liveOf(id)).toBe(PER_SERVICE_USER);
    const { body } = await starting(client);
    expect(body.message).toBe(
      `You have ${PER_SERVICE_USER} live sessions, the most a service user may have: stop one, or let one end`,
    );
  });
});
