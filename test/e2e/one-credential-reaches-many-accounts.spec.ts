import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization } from '../builders/accounts/organization';
import { resourceBody, type Resource } from '../builders/resources/resources';
import type { Answer, Credential, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

type Located = Resource & {
  readonly account: string | null;
  readonly accountLabel: string | null;
  readonly labels: Readonly<Record<string, string>>;
};
type Federated = Credential & {
  readonly identity: { readonly issuer: string; readonly subject: string };
  readonly accountsListedAt: string | null;
};
interface Account {
  readonly account: string;
  readonly label: string | null;
  readonly listedState: string | null;
  readonly resources: number;
  readonly isValid: boolean | null;
  readonly verificationError: string | null;
}

const PAYMENTS = '222222222222';
const SEARCH = '333333333333';
const ROLE = 'arn:aws:iam::{account}:role/drawbridge';

/** One credential whose account each resource names. */
describe('One credential', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);
  let credential: Federated;

  /** What the organization's administrator does in AWS. */
  const account = (name: string, index: number, more: object = {}): Promise<void> =>
    drawbridge.cloud.account({
      provider: 'AWS',
      account: name,
      roles: ['drawbridge'],
      targets: [group(index)],
      ...more,
    });
  const forMany = async (owner = org): Promise<Federated> => {
    const made = await owner.admin.created<Federated>('/credentials', {
      name: 'every account',
      provider: 'AWS',
      credentialType: 'WEB_IDENTITY',
      credentialData: { roleArn: ROLE, listingRoleArn: 'arn:aws:iam::123456789012:role/federated' },
    });
    const { issuer, subject } = made.identity;
    await drawbridge.cloud.trust({ provider: 'AWS', issuer, subject });
    return made;
  };
  const add = (index: number, more: object = {}, owner = org): Promise<Answer<Located>> =>
    owner.admin.post<Located>(
      '/resources',
      resourceBody(owner, {
        resourceIdentifier: group(index),
        credentialId: credential.id,
        config: { port: 22 },
        ...more,
      }),
    );
  const added = async (index: number, more: object): Promise<Located> =>
    org.admin.expect(201, add(index, more));
  const accounts = async (query = ''): Promise<Account[]> =>
    (await org.admin.get<Account[]>(`/credentials/${credential.id}/accounts${query}`)).body;
  const path = (rest: string): string => `/credentials/${credential.id}/accounts/${rest}`;

  beforeAll(async () => {
    credential = await forMany();
    await account(PAYMENTS, 5);
  });

  it('serves a new account and a new labelled resource without a further change', async () => {
    const role = { name: 'Production', resourceSelector: { env: ['prod'] } };
    const { id: roleId } = await org.admin.created<{ id: string }>('/roles', role);
    const member = await colleague(org, [roleId]);
    const open = async (resourceIds: string[]): Promise<Session> => {
      const session = await member.client.posted<Session>('/sessions', {
        resourceIds,
        ipv4Address: '203.0.113.90',
      });
      return org.reaches(session.id, 'ACTIVE');
    };
    const first = await added(5, { account: PAYMENTS, labels: { env: 'prod' } });
    expect(first).toMatchObject({ credentialId: credential.id, account: PAYMENTS, accountLabel: null });
    expect(first.labels).toMatchObject({ 'drawbridge/account': PAYMENTS });
    await org.admin.posted(`/resources/${first.id}/verify`);
    const before = await open([first.id]);

    await account(SEARCH, 6);
    const second = await added(6, { account: SEARCH, labels: { env: 'prod' } });
    await org.admin.posted(`/resources/${second.id}/verify`);
    await member.client.posted(`/sessions/${before.id}/stop`);
    await org.reaches(before.id, 'CANCELLED');
    const asked = { resourceIds: [first.id, second.id], ipv4Address: '203.0.113.90' };
    const plan = await member.client.posted<{ resources: Located[] }>('/sessions/plan', asked);
    expect(new Set(plan.resources.map((one) => one.account))).toEqual(new Set([PAYMENTS, SEARCH]));
    const both = await open([first.id, second.id]);
    expect(await drawbridge.cloud.rules(group(5))).toHaveLength(1);
    expect(await drawbridge.cloud.rules(group(6))).toHaveLength(1);
    await member.client.posted(`/sessions/${both.id}/stop`);
    await org.reaches(both.id, 'CANCELLED');

    const { body: listed } = await org.admin.get<Credential[]>('/credentials');
    expect(listed.map(({ id }) => id).toSorted()).toEqual([credential.id, org.credentialId].toSorted());
    await until('both accounts are checked', async () => (await accounts('?state=VALID')).length === 2);
    expect(await accounts('?sort=-account')).toMatchObject([
      { account: SEARCH, resources: 1, isValid: true },
      { account: PAYMENTS, resources: 1, isValid: true },
    ]);
    expect((await org.admin.get(`/credentials/${credential.id}`)).body).toMatchObject({ isValid: true });
    const { body: events } = await org.admin.get<{ credentialId: string | null }[]>(
      `/resources/${second.id}/events`,
    );
    expect(new Set(events.map(({ credentialId }) => credentialId))).toContain(credential.id);
    const found = await org.admin.get<Located[]>(`/resources?account=${SEARCH}`);
    expect(found.body.map(({ id }) => id)).toEqual([second.id]);
  });

  it.each([
    ['a template without an account', {}, 'must be the AWS account of the resource'],
    ['a malformed account', { account: '12' }, 'must look like 123456789012'],
  ])('is refused with %s', async (_, fields, message) => {
    const { status, body } = await add(7, fields);
    expect(status).toBe(400);
    expect(body).toMatchObject({ message: expect.stringContaining(`account ${message}`) as string });
  });

  it('of one account is no other’s', async () => {
    const { id: credentialId } = await org.admin.created<Credential>('/credentials', {
      name: 'one account',
      provider: 'AWS',
      credentialType: 'ASSUME_ROLE',
      credentialData: { roleArn: 'arn:aws:iam::123456789012:role/simulated' },
    });
    expect((await add(7, { credentialId, account: PAYMENTS })).body).toMatchObject({
      message: 'account must be left out, or be 123456789012, the AWS account in the credential',
    });
    expect((await org.admin.expect(201, add(7, { credentialId }))).account).toBe('123456789012');
    const changed = { credentialData: { roleArn: ROLE } };
    expect((await org.admin.patch(`/credentials/${credentialId}`, changed)).status).toBe(400);
  });

  it('of Azure is in its subscription, unless the resource says otherwise', async () => {
    const own = '00000000-0000-4000-8000-000000000001';
    const { id: credentialId } = await org.admin.created<Credential>('/credentials', {
      name: 'Azure',
      provider: 'AZURE',
      credentialType: 'SERVICE_PRINCIPAL',
      credentialData: {
        tenantId: '00000000-0000-4000-8000-000000000002',
        clientId: '00000000-0000-4000-8000-000000000003',
        clientSecret: 'simulated-client-secret',
        subscriptionId: own,
      },
    });
    const target = 'simulated-group/simulated-nsg-2';
    const elsewhere = '00000000-0000-4000-8000-0000000000aa';
    await drawbridge.cloud.account({
      provider: 'AZURE',
      account: elsewhere,
      roles: ['app'],
      targets: [target],
    });
    const body = { credentialId, provider: 'AZURE', resourceType: 'NETWORK_SECURITY_GROUP' };
    const full = `/subscriptions/${elsewhere}/resourceGroups/simulated-group/providers/Microsoft.Network/networkSecurityGroups/simulated-nsg-2`;
    const contradicting = await add(0, { ...body, resourceIdentifier: full, account: own });
    expect(contradicting.body).toMatchObject({
      message: expect.stringContaining('the subscription in the resourceIdentifier') as string,
    });
    const short = { ...body, resourceIdentifier: target };
    const made = await added(0, { ...short, account: elsewhere.toUpperCase() });
    expect(made.account).toBe(elsewhere);
    await org.admin.posted(`/resources/${made.id}/verify`);
    const moved = await org.admin.expect(
      200,
      org.admin.patch<Located>(`/resources/${made.id}`, { account: own }),
    );
    expect(moved.account).toBe(own);
    expect((await org.admin.post(`/resources/${made.id}/verify`)).status).toBe(404);
  });

  it('is probed in each account', async () => {
    await account('444444444444', 7, { isOpen: true });
    const { id } = await added(7, { account: '444444444444' });
    const verified = await org.admin.post<{ message: string }>(`/resources/${id}/verify`);
    expect(verified.body.message).toContain('arn:aws:iam::444444444444:role/drawbridge accepts any subject');
    await org.admin.posted(path('444444444444/verify'));
    expect(await accounts('?state=INVALID')).toMatchObject([
      {
        account: '444444444444',
        isValid: false,
        verificationError: expect.stringContaining('any subject') as string,
      },
    ]);
    const { body } = await org.admin.get<Credential>(`/credentials/${credential.id}`);
    expect(body).toMatchObject({
      isValid: false,
      verificationError: expect.stringContaining('444444444444: ') as string,
    });
    const attention = await org.admin.get<{ objectId: string; objectName: string }[]>(
      '/attention?kind=CREDENTIAL_FAILING',
    );
    const failing = attention.body.filter(({ objectId }) => objectId === credential.id);
    expect(failing.map(({ objectName }) => objectName)).toEqual(['every account in 444444444444']);
    await org.admin.expect(204, org.admin.delete(`/resources/${id}`));
    await until('the account is left', async () => (await accounts('?state=INVALID')).length === 0);
  });

  it('shows the names of the organization’s list, and those given by hand', async () => {
    await org.admin.expect(204, org.admin.post(path('refresh')));
    expect((await org.admin.post(path('refresh'))).status).toBe(429);
    await until('the accounts are listed', async () => {
      const { body } = await org.admin.get<Federated>(`/credentials/${credential.id}`);
      return body.accountsListedAt !== null;
    });
    await org.admin.expect(200, org.admin.patch(path(PAYMENTS), { label: 'Payments' }));
    expect(await accounts('?search=payments')).toMatchObject([
      { account: PAYMENTS, label: 'Payments', listedState: 'ACTIVE' },
    ]);
    expect((await accounts()).find((one) => one.account === SEARCH)).toMatchObject({ label: 'Another' });
    const { body: resources } = await org.admin.get<Located[]>('/resources?search=payments');
    expect(resources.map(({ accountLabel }) => accountLabel)).toEqual(['Payments']);
  });

  it('of another organization opens nothing in the account that it names', async () => {
    const own = credential;
    const { id, name } = await forMany(other);
    await drawbridge.cloud.trust({
      provider: 'AWS',
      issuer: own.identity.issuer,
      subject: own.identity.subject,
    });
    const theirs = resourceBody(other, { credentialId: id, resourceIdentifier: group(5), account: PAYMENTS });
    for (const url of ['', `/${PAYMENTS}/verify`])
      expect((await other.admin.post(`/credentials/${own.id}/accounts${url || '/refresh'}`)).status).toBe(
        404,
      );
    expect((await other.admin.get(`/credentials/${own.id}/accounts`)).status).toBe(404);
    expect(
      (await other.admin.patch(`/credentials/${own.id}/accounts/${PAYMENTS}`, { label: 'x' })).status,
    ).toBe(404);
    const stolen = resourceBody(other, {
      credentialId: own.id,
      resourceIdentifier: group(5),
      account: PAYMENTS,
    });
    expect((await other.admin.post('/resources', stolen)).status).toBe(404);
    expect(name).toBe('every account');
    await drawbridge.cloud.account({ provider: 'AWS', account: PAYMENTS, roles: [], targets: [group(5)] });
    const { id: resourceId } = await other.admin.created<Located>('/resources', theirs);
    expect((await other.admin.post(`/resources/${resourceId}/verify`)).status).toBe(400);
    await account(PAYMENTS, 5);
  });

  it('is deleted when no account uses it', async () => {
    const remove = (): Promise<Answer<unknown>> => org.admin.delete(`/credentials/${credential.id}`);
    expect((await remove()).body).toMatchObject({ error: 'CREDENTIAL_IN_USE' });
    const { body } = await org.admin.get<Located[]>(`/resources?credentialId=${credential.id}`);
    for (const { id } of body) await org.admin.expect(204, org.admin.delete(`/resources/${id}`));
    await until('no rule of an account is left', async () => (await remove()).status === 204);
    await until('the rows of the accounts are gone', async () => {
      const rows = await drawbridge.query('SELECT FROM credentials WHERE $1 IN (id, parent_id)', [
        credential.id,
      ]);
      return rows.length === 0;
    });
  });
});
