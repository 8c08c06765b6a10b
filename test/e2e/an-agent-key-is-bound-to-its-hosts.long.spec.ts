import { setTimeout as pause } from 'node:timers/promises';
import { agentKey, hostsOf, lastHeardOf, TestAgent, type GuardedHost } from '../builders/resources/agents';
import type { Key } from '../builders/contract/answers';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { audited } from '../builders/accounts/people';
import type { Answer, ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge, []);
const { newHost } = hostsOf(org);
let admin: ApiClient;

beforeAll(() => {
  ({ admin } = org);
});

const made = (body: object = {}): Promise<Key> =>
  admin.expect(201, admin.post<Key>('/api-keys', { name: 'agent', scopes: ['agent:connect'], ...body }));
const using = ({ plainTextKey }: Key): ApiClient => drawbridge.api.as({ apiKey: plainTextKey });
const recordOf = async (id: string): Promise<Key> => {
  const keys = await admin.expect(200, admin.get<Key[]>('/api-keys'));
  return keys.find((key) => key.id === id)!;
};
const revoke = ({ id }: Key): Promise<unknown> => admin.expect(204, admin.delete(`/api-keys/${id}`));

type Refusal = Answer<{ message: string; validationErrors?: Record<string, string> }>;
const asking = (client: ApiClient, name: string, more = ''): Promise<Refusal> =>
  client.get(`/agents/state?agent=${name}${more}`);
const release = (name: string, by = admin): Promise<Answer<{ name: string; releasedUntil: string }>> =>
  by.post(`/agents/${name}/release`);
const namesKept = async (): Promise<number> => (await drawbridge.query('SELECT 1 FROM agents')).length;

/** A host whose agent serves with a key of its own. */
async function served(): Promise<{ name: string; key: Key; agent: TestAgent; place: GuardedHost }> {
  const place = await newHost();
  const key = await made({ agents: [place.name] });
  const agent = new TestAgent(using(key), place.name, 'machine');
  await agent.turn();
  return { name: place.name, key, agent, place };
}

describe('An agent key is bound to its hosts', () => {
  describe('by its creation', () => {
    it('the record shows the names in lower case, each once', async () => {
      const key = await made({ agents: ['DB-Host-1', 'db-host-1', 'web'] });
      expect(key.agents).toEqual(['db-host-1', 'web']);
      expect((await recordOf(key.id)).agents).toEqual(['db-host-1', 'web']);
    });

    it.each([
      ['a key without agent:connect', { scopes: ['sessions:read'], agents: ['db-host-1'] }],
      ['no names', { agents: [] }],
      ['a name that no host has', { agents: ['-x'] }],
      ['names that are no text', { agents: [7] }],
      ['one name outside an array', { agents: 'db-host-1' }],
      ['more than a hundred names', { agents: Array.from({ length: 101 }, (_, index) => `host-${index}`) }],
    ])('%s: 400 that names the field', async (_, body) => {
      const asked = { name: 'k', scopes: ['agent:connect'], ...body };
      const { status, body: refusal }: Refusal = await admin.post('/api-keys', asked);
      expect([status, Object.keys(refusal.validationErrors ?? {})]).toEqual([400, ['agents']]);
    });

    it('serves each of its hosts', async () => {
      const [one, two] = [await newHost(), await newHost()];
      const client = await agentKey(org, [one.name, two.name]);
      for (const { name } of [one, two]) expect((await asking(client, name)).status).toBe(200);
    });

    it('another host is 403: its list, a dry run of it, and reports for it', async () => {
      const [own, other] = [await newHost(), await newHost()];
      const client = await agentKey(org, [own.name]);
      const refused = await asking(client, other.name);
      expect([refused.status, refused.body.message]).toEqual([
        403,
        `The API key is bound to ${own.name}: make a key for ${other.name}`,
      ]);
      expect((await asking(client, other.name, '&dryRun=true')).status).toBe(403);
      expect((await new TestAgent(client, other.name).report('x', [])).status).toBe(403);
    });
  });

  describe('else by its first host', () => {
    it('the record shows it from then on, and the audit trail has it', async () => {
      const { name } = await newHost();
      const key = await made();
      expect(key.agents).toEqual([]);
      expect((await asking(using(key), name.toUpperCase())).status).toBe(200);
      expect((await recordOf(key.id)).agents).toEqual([name]);
      expect(await audited(drawbridge, org.organizationId, 'API_KEY_BOUND')).toContainEqual(
        expect.objectContaining({ resourceId: key.id, details: { agents: [name] } }),
      );
      expect((await asking(using(key), (await newHost()).name)).status).toBe(403);
    });

    it('of concurrent requests for several hosts it serves one', async () => {
      const hosts = await Promise.all(Array.from({ length: 8 }, () => newHost()));
      const client = await agentKey(org);
      const answers = await Promise.all(hosts.map(({ name }) => asking(client, name)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 403)).toHaveLength(hosts.length - 1);
    });

    it('a dry run binds it to none', async () => {
      const { name } = await newHost();
      const key = await made();
      expect((await asking(using(key), name, '&dryRun=true')).status).toBe(200);
      expect((await recordOf(key.id)).agents).toEqual([]);
    });

    it('a dry run of a host that another key serves is refused', async () => {
      const { name } = await served();
      expect((await asking(await agentKey(org), name, '&dryRun=true')).status).toBe(409);
    });

    it('a host that another key serves does not bind it', async () => {
      const { name } = await served();
      const key = await made();
      expect((await asking(using(key), name)).status).toBe(409);
      expect((await recordOf(key.id)).agents).toEqual([]);
    });
  });

  describe('A name without a resource', () => {
    it('is 404 and leaves nothing', async () => {
      const key = await made();
      const before = await namesKept();
      const client = using(key);
      const invented = Array.from({ length: 20 }, (_, index) => `invented-${index}`);
      for (const name of invented) {
        const { status, body } = await asking(client, name);
        expect([status, body.message]).toEqual([
          404,
          `No resource names the host ${name}: create one with that resourceIdentifier`,
        ]);
      }
      expect((await asking(client, 'invented-1', '&dryRun=true')).status).toBe(404);
      expect((await new TestAgent(client, 'invented-1').report('x', [])).status).toBe(404);
      expect(await namesKept()).toBe(before);
      expect((await recordOf(key.id)).agents).toEqual([]);
    });

    it('is 404 when another organization’s resource has it', async () => {
      const { name } = await served();
      const stranger = await organization(drawbridge, []);
      expect((await asking(await agentKey(stranger), name)).status).toBe(404);
    });
  });

  describe('Another key', () => {
    it('is refused with 409 however long the host is silent, also from the same machine', async () => {
      const { name } = await served();
      await lastHeardOf(drawbridge, name, 86_400);
      const second = new TestAgent(await agentKey(org, [name]), name, 'machine');
      const { status, body } = (await second.ask()) as unknown as Refusal;
      expect([status, body.message]).toEqual([
        409,
        `The agent ${name} serves with another API key: revoke that key, or release the name with POST /agents/${name}/release`,
      ]);
      expect((await second.report('x', [])).status).toBe(409);
    });

    it('takes over at once when the previous key is revoked, and has to confirm all rules', async () => {
      const { name, key, agent, place } = await served();
      await place.verify();
      const { id } = await org.started({ ipv4Address: '203.0.113.8', resourceIds: [place.resourceId] });
      await agent.turn();
      await org.reaches(id, 'ACTIVE');
      const second = new TestAgent(await agentKey(org, [name]), name, 'machine');
      expect((await second.ask()).status).toBe(409);
      await revoke(key);
      expect((await second.fetched()).rules).toMatchObject([{ unconfirmed: true }]);
      expect((await agent.ask()).status).toBe(401);
    });

    it('takes over at once when the previous key has expired', async () => {
      const { name, key } = await served();
      await drawbridge.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]);
      expect((await new TestAgent(await agentKey(org), name).ask()).status).toBe(200);
    });

    it('takes over once when an administrator releases the name; the first serves until then', async () => {
      const { name, agent } = await served();
      const second = new TestAgent(await agentKey(org, [name]), name, 'other-machine');
      const released = await admin.expect(200, release(name.toUpperCase()));
      expect(released.name).toBe(name);
      expect(Date.parse(released.releasedUntil)).toBeGreaterThan(Date.now());
      expect((await agent.ask()).status).toBe(200);
      expect((await second.ask()).status).toBe(200);
      expect((await agent.ask()).status).toBe(409);
      expect((await second.ask()).status).toBe(200);
    });

    it('is refused again once the release is over', async () => {
      const { name } = await served();
      await release(name);
      await drawbridge.query('UPDATE agents SET released_until = now() WHERE name = $1', [name]);
      expect((await new TestAgent(await agentKey(org, [name]), name).ask()).status).toBe(409);
    });
  });

  describe('POST /agents/{name}/release', () => {
    it('is 404 for a name that no agent has, and for another organization’s, and 400 for none', async () => {
      const { name } = await served();
      const stranger = await organization(drawbridge, []);
      expect((await release('never-seen')).status).toBe(404);
      expect((await release(name, stranger.admin)).status).toBe(404);
      expect((await release('-x')).status).toBe(400);
    });
  });

  it('a request that waits ends with 401 at the end of its wait when its key was revoked', async () => {
    const { key, agent } = await served();
    const { version } = await agent.fetched();
    const answer = agent.ask({ version, waitSeconds: 3 });
    await pause(1000);
    await revoke(key);
    expect((await answer).status).toBe(401);
  });
});
