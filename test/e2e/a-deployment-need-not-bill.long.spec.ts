import { group, SIMULATED_KEY } from '../builders/accounts/organization';
import { email, founder, PASSWORD, type Person } from '../builders/accounts/people';
import { CommandLine } from '../harness/product/command-line';
import { Drawbridge } from '../harness/product/drawbridge';

const MORE_THAN_FREE = 6;

describe('A deployment need not bill', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { PAYMENT: 'none' } });
  let admin: Person;

  beforeAll(async () => {
    admin = await founder(drawbridge);
  });

  it('every organization has the paid limits: users, resources, hours, and keys for CI', async () => {
    const { client, organizationId } = admin;
    for (let more = 1; more < MORE_THAN_FREE; more++) await client.created('/users', { email: email() });
    const key = { provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: SIMULATED_KEY };
    const { id: credentialId } = await client.created<{ id: string }>('/credentials', {
      name: 'AWS',
      ...key,
    });
    for (let index = 0; index < MORE_THAN_FREE; index++) {
      const named = { name: `database ${index}`, credentialId, provider: 'AWS', region: 'eu-central-1' };
      const target = { resourceType: 'SECURITY_GROUP', resourceIdentifier: group(index) };
      await client.created('/resources', { ...named, ...target });
    }
    expect(await client.created('/roles', { name: 'Developers' })).toMatchObject({
      maxSessionDurationHours: 24,
    });
    const { plainTextKey: apiKey } = await client.created<{ plainTextKey: string }>('/api-keys', {
      name: 'pipeline',
      scopes: ['resources:read'],
    });
    expect((await drawbridge.api.as({ apiKey }).get('/resources')).status).toBe(200);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPPORT' WHERE id = $1`, [admin.id]);
    for (const path of ['/organization', `/platform/organizations/${organizationId}`])
      expect((await client.get(path)).body).toMatchObject({ subscriptionTier: 'PAID' });
  });

  it('there is one plan, without a price', async () => {
    const { body } = await admin.client.get('/billing/plans');
    const limits = { maxSessionDurationHours: 24, maxResources: null, maxUsers: null };
    expect(body).toMatchObject([{ tier: 'PAID', priceCents: null, currency: null, interval: null, limits }]);
  });

  it('subscribing and cancelling are 400, and change nothing', async () => {
    const [plan] = (await admin.client.get<{ id: string }[]>('/billing/plans')).body;
    for (const refused of [
      await admin.client.post('/billing/subscribe', { planId: plan!.id }),
      await admin.client.post('/billing/cancel'),
    ])
      expect(refused).toMatchObject({ status: 400, body: { message: 'This deployment does not bill' } });
    const none = await admin.client.get<{ message: string }>('/billing/subscription');
    expect([none.status, none.body.message]).toEqual([
      404,
      'The organization has no subscription: this deployment does not bill',
    ]);
  });

  it('the command line says so', async () => {
    const cli = new CommandLine({ DRAWBRIDGE_URL: `http://127.0.0.1:${drawbridge.apiServer.port}` });
    const signIn = ['login', '--email', admin.email, '--password-stdin'];
    expect((await cli.run(signIn, `${PASSWORD}\n`)).code).toBe(0);
    expect((await cli.run(['billing'])).stdout).toMatch(
      /^Nothing is billed here.*\n.*\nPaid +yes +none +24 +no/,
    );
    const subscribe = await cli.run(['billing', 'subscribe', '--company', 'Mine']);
    expect([subscribe.code, subscribe.stderr]).toEqual([
      2,
      expect.stringContaining('Nothing is billed') as string,
    ]);
    await cli.remove();
  });
});
