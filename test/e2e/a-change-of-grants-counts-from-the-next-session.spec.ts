import { randomUUID } from 'node:crypto';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { ApiClient, type Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { freshAddress } from '../bench/load';

interface Refused {
  readonly message: string;
}

interface Started {
  readonly id: string;
}

/** A pipeline with an API key that has just started sessions through another process than the one that changes. */
interface Pipeline {
  readonly org: Organization;
  readonly owner: Colleague;
  readonly keyId: string;
  readonly start: (body?: object) => Promise<Answer<Started & Refused>>;
  readonly stop: (id: string) => Promise<Answer<Started & Refused>>;
}

type Change = (pipeline: Pipeline) => Promise<unknown>;

const sql =
  (statement: string): Change =>
  ({ org }) =>
    org.drawbridge.query(statement, [org.organizationId]);

/** Each with the answer to the next start. */
const CHANGES: readonly (readonly [string, Change, number, string])[] = [
  ['the key is revoked', ({ org, keyId }) => done(org.admin.delete(`/api-keys/${keyId}`)), 401, 'revoked'],
  [
    'its user is deactivated',
    ({ org, owner }) => done(org.admin.patch(`/users/${owner.id}`, { isActive: false })),
    401,
    'invalid',
  ],
  [
    'the organization is suspended',
    sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'),
    403,
    'suspended',
  ],
  [
    'the plan ends',
    sql(`UPDATE organizations SET subscription_tier = 'FREE' WHERE id = $1`),
    403,
    'need the Paid plan',
  ],
  [
    'only own addresses are allowed from now on',
    ({ org }) => done(org.admin.patch('/organization/settings', { requireDetectedAddress: true })),
    400,
    'your organization requires it',
  ],
  [
    'the user loses the role',
    ({ org, owner }) => done(org.admin.delete(`/roles/${org.roleId}/users/${owner.id}`)),
    400,
    'No active resource',
  ],
  [
    'the role loses the resource',
    ({ org }) => done(org.admin.delete(`/roles/${org.roleId}/resources/${org.resourceIds[0]}`)),
    400,
    'No active resource',
  ],
  [
    'the role is deleted',
    ({ org }) => done(org.admin.delete(`/roles/${org.roleId}`)),
    400,
    'No active resource',
  ],
  [
    'the resource is taken out of use',
    ({ org }) => done(org.admin.patch(`/resources/${org.resourceIds[0]}`, { isActive: false })),
    400,
    'None of your resources is active',
  ],
  [
    'the role allows less time',
    ({ org }) => done(org.admin.patch(`/roles/${org.roleId}`, { maxSessionDurationHours: 1 })),
    400,
    'at most 1',
  ],
];

async function done(answer: Promise<Answer<unknown>>): Promise<void> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`The change failed with ${status}: ${JSON.stringify(body)}`);
}

describe('A change of keys, users, roles or resources counts from the next session, on every process', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let other: ApiClient;

  beforeAll(async () => {
    const { port } = await drawbridge.startApi();
    other = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
  });

  async function pipeline(): Promise<Pipeline> {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const owner = await colleague(org);
    const body = { name: randomUUID(), scopes: ['sessions:write'], userId: owner.id };
    const key = await org.admin.created<{ id: string; plainTextKey: string }>('/api-keys', body);
    const client = other.as({ apiKey: key.plainTextKey });
    const start: Pipeline['start'] = (more = {}) =>
      client.post('/sessions', { ipv4Address: freshAddress(), durationHours: 2, ...more });
    expect((await start()).status).toBe(200);
    return { org, owner, keyId: key.id, start, stop: (id) => client.post(`/sessions/${id}/stop`) };
  }

  it.each(CHANGES)('%s', async (_, change, status, message) => {
    const site = await pipeline();
    await change(site);
    const answer = await site.start();
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
    expect((await site.start()).status).toBe(status);
  });

  it('what was refused is granted: the next start succeeds', async () => {
    const { org, owner, start } = await pipeline();
    await done(org.admin.delete(`/roles/${org.roleId}/users/${owner.id}`));
    expect((await start()).status).toBe(400);
    await done(org.admin.post(`/roles/${org.roleId}/users/${owner.id}`));
    expect((await start()).status).toBe(200);
  });

  it('a key that has just stopped a session and is revoked stops no other', async () => {
    const { org, keyId, start, stop } = await pipeline();
    const [first, second] = [(await start()).body.id, (await start()).body.id];
    expect((await stop(first)).status).toBe(200);
    await done(org.admin.delete(`/api-keys/${keyId}`));
    expect((await stop(second)).status).toBe(401);
    expect((await org.admin.get<{ status: string }>(`/sessions/${second}`)).body.status).toBe('PENDING');
  });
});
