import { simulatorDuringTests } from '../simulator.testing';

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

// that they take rules, pages and tokens as the driver has them: the conformance suite
describe('Simulated network security groups', () => {
  const simulator = simulatorDuringTests({ azureOperationMs: 100 });
  let token: string;
  beforeAll(async () => {
    token = await tokenFor(`${simulator.url}/azure/arm/.default`);
  });

  const tokenFor = async (scope: string): Promise<string> => {
    const { body } = await ask('POST', `${simulator.url}/azure/login/${TENANT}/oauth2/v2.0/token`, {
      body: new URLSearchParams({ ...FORM, scope }),
    });
    return body.access_token!;
  };
  const send = (method: string, url: string, body?: object, bearer = token): Promise<Answer> =>
    ask(method, url, {
      headers: { authorization: `Bearer ${bearer}` },
      ...(body && { body: JSON.stringify(body) }),
    });
  const groupUrl = (path = ''): string => `${simulator.url}/azure/arm${GROUP}${path}?api-version=2024-05-01`;
  const put = (name: string, changed: object = {}): Promise<Answer> =>
    send('PUT', groupUrl(`/securityRules/${name}`), { properties: { ...SSH, ...changed } });
  const ended = async ({ headers }: Answer): Promise<string | undefined> => {
    for (;;) {
      const { body } = await send('GET', headers.get('azure-asyncoperation')!);
      if (body.status !== 'InProgress') return body.status;
    }
  };
  const open = async (): Promise<string[]> =>
    (await simulator.openRules(`provider=AZURE&target=${TARGET}`)).map(
      ({ address, protocol, fromPort, toPort }) => `${address} ${protocol} ${fromPort}-${toPort}`,
    );

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

  it('refuse a token for another audience', async () => {
    const other = await tokenFor('https://graph.microsoft.com/.default');
    const answer = await send('GET', groupUrl(), undefined, other);
    expect(answer.body.error?.code).toBe('InvalidAuthenticationTokenAudience');
  });
});
