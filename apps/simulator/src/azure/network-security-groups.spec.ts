import type { OpenRule } from '../ground-truth/ledger';
import { startSimulator, type RunningSimulator } from '../start-simulator';

const GROUP =
  '/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/simulated-group/providers/Microsoft.Network/networkSecurityGroups/simulated-nsg';
const TARGET = 'simulated-group/simulated-nsg';
const TENANT = '00000000-0000-4000-8000-000000000002';
const FORM = {
  grant_type: 'client_credentials',
  client_id: '00000000-0000-4000-8000-000000000003',
  client_secret: 'simulated-client-secret',
};
const SSH = {
  protocol: 'Tcp',
  access: 'Allow',
  direction: 'Inbound',
  priority: 1000,
  sourceAddressPrefix: '203.0.113.7/32',
  sourcePortRange: '*',
  destinationAddressPrefix: '*',
  destinationPortRange: '22',
};

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly error?: { readonly code: string };
    readonly value?: readonly {
      readonly name: string;
      readonly properties: { readonly provisioningState: string };
    }[];
    readonly nextLink?: string;
    readonly status?: string;
    readonly access_token?: string;
  };
}

async function ask(method: string, url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { method, ...init });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text || '{}') as Answer['body'],
  };
}

describe('Simulated network security groups', () => {
  let simulator: RunningSimulator;
  let token: string;

  beforeAll(async () => {
    simulator = await startSimulator({ azureOperationMs: 300, azureRulesPerGroup: 300 });
    token = (await tokenFor({})).body.access_token!;
  });
  afterAll(() => simulator.close());
  beforeEach(async () => {
    await ask('POST', `${simulator.url}/_reset`);
  });

  const tokenFor = (changed: object, tenant = TENANT): Promise<Answer> =>
    ask('POST', `${simulator.url}/azure/login/${tenant}/oauth2/v2.0/token`, {
      body: new URLSearchParams({ ...FORM, scope: `${simulator.url}/azure/arm/.default`, ...changed }),
    });
  const arm = (
    method: string,
    path: string,
    body?: object,
    authorization = `Bearer ${token}`,
  ): Promise<Answer> =>
    ask(method, path.startsWith('http') ? path : `${simulator.url}/azure/arm${path}?api-version=2024-05-01`, {
      headers: { authorization },
      ...(body && { body: JSON.stringify(body) }),
    });
  const put = (name: string, changed: object = {}): Promise<Answer> =>
    arm('PUT', `${GROUP}/securityRules/${name}`, { properties: { ...SSH, ...changed } });
  const ended = async ({ headers }: Answer): Promise<string | undefined> => {
    for (;;) {
      const { body } = await arm('GET', headers.get('azure-asyncoperation')!);
      if (body.status !== 'InProgress') return body.error ? `${body.status} ${body.error.code}` : body.status;
    }
  };
  const open = async (): Promise<string[]> => {
    const response = await fetch(`${simulator.url}/_rules?provider=AZURE&target=${TARGET}`);
    return ((await response.json()) as OpenRule[]).map(
      ({ address, protocol, fromPort, toPort }) => `${address} ${protocol} ${fromPort}-${toPort}`,
    );
  };
  const states = async (): Promise<string[]> =>
    (await arm('GET', `${GROUP}/securityRules`)).body.value!.map(
      ({ name, properties }) => `${name} ${properties.provisioningState}`,
    );

  it('accept a rule first and apply it later', async () => {
    const answer = await put('ssh');
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: 'ssh', properties: { ...SSH, provisioningState: 'Updating' } });
    expect(await states()).toEqual(['ssh Updating']);
    expect(await ended(answer)).toBe('Succeeded');
    expect(await states()).toEqual(['ssh Succeeded']);
    expect(await open()).toEqual(['203.0.113.7 tcp 22-22']);
  });

  it('accept one change at a time', async () => {
    const answers = await Promise.all([put('one'), put('other', { priority: 1001 })]);
    const [first, second] = answers.sort((a, b) => a.status - b.status);
    expect(second).toMatchObject({
      status: 429,
      body: { error: { code: 'RetryableError', details: [{ code: 'RetryableErrorDueToAnotherOperation' }] } },
    });
    await ended(first);
    expect((await put('third', { priority: 1002 })).status).toBe(201);
  });

  it('delete a rule, and answer 204 when it does not exist', async () => {
    await ended(await put('ssh'));
    const deleted = await arm('DELETE', `${GROUP}/securityRules/SSH`);
    expect(deleted.status).toBe(202);
    expect(await ended(deleted)).toBe('Succeeded');
    expect((await arm('GET', deleted.headers.get('location')!)).status).toBe(204);
    expect(await open()).toEqual([]);
    expect((await arm('DELETE', `${GROUP}/securityRules/ssh`)).status).toBe(204);
  });

  it('record each address and port of a rule as open, and service tags as everybody', async () => {
    await ended(
      await put('ssh', { destinationPortRange: undefined, destinationPortRanges: ['22', '80-90'] }),
    );
    await ended(
      await put('any', {
        priority: 1001,
        protocol: '*',
        sourceAddressPrefix: '*',
        destinationPortRange: '*',
      }),
    );
    expect(await open()).toEqual([
      '203.0.113.7 tcp 22-22',
      '203.0.113.7 tcp 80-90',
      '0.0.0.0/0 all null-null',
    ]);
    await ended(await put('any', { priority: 1001, access: 'Deny' }));
    expect(await open()).toHaveLength(2);
  });

  it('hold service tags and application security groups as sources', async () => {
    await ended(await put('tag', { sourceAddressPrefix: 'Storage.WestEurope' }));
    const sourceApplicationSecurityGroups = [
      { id: GROUP.replace('networkSecurityGroups', 'applicationSecurityGroups') },
    ];
    const of = { sourceAddressPrefix: undefined, sourceApplicationSecurityGroups, priority: 1001 };
    expect(await ended(await put('groups', of))).toBe('Succeeded');
    expect(await open()).toEqual(['Storage.WestEurope tcp 22-22']);
  });

  it.each([
    ['SecurityRuleConflict', { priority: 1000 }],
    ['SecurityRuleInvalidPriority', { priority: 99 }],
    ['SecurityRuleInvalidPriority', { priority: 4097 }],
    ['InvalidRequestFormat', { protocol: 'tcp' }],
    ['InvalidRequestFormat', { access: 'allow' }],
    ['InvalidRequestFormat', { direction: undefined }],
    ['InvalidDescriptionLength', { description: 'x'.repeat(141) }],
    ['InvalidRequestContent', { description: 7 }],
    ['SecurityRuleInvalidAddressPrefix', { sourceAddressPrefix: '203.0.113.300' }],
    ['SecurityRuleParameterMissing', { sourceAddressPrefix: undefined }],
    ['SecurityRuleParameterMissing', { sourceAddressPrefix: undefined, sourceAddressPrefixes: [] }],
    ['SecurityRuleAddressPrefixesMixedIpVersions', { sourceAddressPrefixes: ['2001:db8::1'] }],
    ['SecurityRuleInvalidProtocol', { protocol: 'Icmp', sourceAddressPrefix: '2001:db8::1' }],
    ['SecurityRuleInvalidProtocol', { protocol: 'Icmpv6', sourceAddressPrefix: '203.0.113.1' }],
    ['SecurityRuleInvalidPortRange', { destinationPortRange: '70000' }],
    ['SecurityRuleInvalidPortRange', { destinationPortRange: '90-80' }],
    ['SecurityRuleParameterMissing', { destinationPortRange: undefined }],
  ])('refuse with %s a rule with %j', async (code, changed) => {
    await ended(await put('existing'));
    expect(await put('new', { priority: 1001, ...changed })).toMatchObject({
      status: 400,
      body: { error: { code } },
    });
    expect(await open()).toHaveLength(1);
  });

  it('refuse invalid names, and a priority that is taken in the same direction only', async () => {
    expect((await put('-odd')).body.error?.code).toBe('InvalidResourceName');
    expect((await put('x'.repeat(81))).body.error?.code).toBe('InvalidResourceName');
    await ended(await put('in'));
    expect((await put('out', { direction: 'Outbound' })).status).toBe(201);
  });

  it('page 250 rules with nextLink, and refuse more than their limit', async () => {
    const plant = (number: number): Promise<Answer> =>
      ask('POST', `${simulator.url}/_rules`, {
        body: JSON.stringify({
          provider: 'AZURE',
          target: TARGET,
          address: `10.0.${number >> 8}.${number & 255}`,
        }),
      });
    for (let number = 0; number < 300; number += 1) expect((await plant(number)).status).toBe(201);
    const { body: first } = await arm('GET', `${GROUP}/securityRules`);
    const { body: second } = await arm('GET', first.nextLink!);
    expect([first.value!.length, second.value!.length, second.nextLink]).toEqual([250, 50, undefined]);
    expect((await put('one-more')).body.error?.code).toBe('SecurityRuleCountLimitReached');
  });

  it.each([
    ['AuthenticationFailed', () => ''],
    ['InvalidAuthenticationToken', () => 'Bearer nonsense'],
    ['InvalidAuthenticationToken', () => `Bearer ${token}x`],
  ])('refuse a request without a valid token: %s', async (code, authorization) => {
    expect(await arm('GET', GROUP, undefined, authorization())).toMatchObject({
      status: 401,
      body: { error: { code } },
    });
  });

  it('refuse a token for another audience', async () => {
    const other = (await tokenFor({ scope: 'https://graph.microsoft.com/.default' })).body.access_token;
    const answer = await arm('GET', GROUP, undefined, `Bearer ${other}`);
    expect(answer.body.error?.code).toBe('InvalidAuthenticationTokenAudience');
  });

  it.each([
    ['invalid_client', 401, { client_secret: 'wrong' }],
    ['unauthorized_client', 400, { client_id: '00000000-0000-4000-8000-00000000dead' }],
    ['unsupported_grant_type', 400, { grant_type: 'password' }],
    ['invalid_scope', 400, { scope: 'user.read' }],
  ])('refuse a token request: %s', async (error, status, changed) => {
    expect(await tokenFor(changed)).toMatchObject({ status, body: { error } });
  });

  it.each([
    ['SubscriptionNotFound', GROUP.replace('000000000001', '000000000009')],
    ['ResourceGroupNotFound', GROUP.replace('simulated-group', 'other')],
    ['ResourceNotFound', `${GROUP}-9`],
    ['NotFound', `${GROUP}/securityRules/none`],
    ['InvalidResourceType', '/subscriptions/x/elsewhere'],
  ])('answer 404 for an unknown path: %s', async (code, path) => {
    expect(await arm('GET', path)).toMatchObject({ status: 404, body: { error: { code } } });
  });

  it('require an api-version', async () => {
    const answer = await arm('GET', `${simulator.url}/azure/arm${GROUP}`);
    expect(answer.body.error?.code).toBe('MissingApiVersionParameter');
  });
});
