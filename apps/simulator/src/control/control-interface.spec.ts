import { AuthorizeSecurityGroupIngressCommand, EC2Client } from '@aws-sdk/client-ec2';
import { startSimulator, type RunningSimulator } from '../start-simulator';

const GROUP = 'sg-0123456789abcdef0';
const RULE = {
  provider: 'AWS',
  target: GROUP,
  address: '203.0.113.7',
  protocol: 'tcp',
  fromPort: 22,
  toPort: 22,
};

let simulator: RunningSimulator;

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  simulator = await startSimulator({ rulesPerGroup: 3 });
});

afterAll(async () => {
  await simulator.close();
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const control = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
};

const isList = (value: unknown): value is Record<string, unknown>[] => Array.isArray(value);

const aNumber: unknown = expect.any(Number);

const read = async (path: string): Promise<Record<string, unknown>[]> => {
  const { body } = await control('GET', path);
  if (!isList(body)) throw new Error(`${path} is no list`);
  return body;
};

beforeEach(async () => {
  await control('POST', '/_reset');
});

const openByApi = async (description: string, tag: string): Promise<void> => {
  const ec2 = new EC2Client({
    region: 'eu-west-1',
    endpoint: `${simulator.url}/aws/ec2`,
    maxAttempts: 1,
    credentials: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
  });
  const IpRanges = [{ CidrIp: '203.0.113.7/32', Description: description }];
  await ec2.send(
    new AuthorizeSecurityGroupIngressCommand({
      GroupId: GROUP,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges }],
      TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: [{ Key: 'mark', Value: tag }] }],
    }),
  );
  ec2.destroy();
};

describe('the service account', () => {
  it('is answered as a key file', async () => {
    expect(await control('GET', '/_service-account')).toMatchObject({
      status: 200,
      body: { type: 'service_account', private_key: expect.stringContaining('PRIVATE KEY') as string },
    });
  });
});

describe('changes by another program', () => {
  it('are recorded in the timeline with increasing times', async () => {
    const added = await control('POST', '/_rules', RULE);
    expect(added).toMatchObject({ status: 201, body: { ...RULE, ours: false, since: aNumber } });
    expect(await read(`/_rules?provider=AWS&target=${GROUP}`)).toEqual([added.body]);
    expect(await read('/_rules?target=sg-0123456789abcdef1')).toEqual([]);
    const [{ at: openedAt, event: _, ...rule } = {}] = await read('/_timeline?since=0');

    const removed = await control('DELETE', `/_rules?provider=AWS&target=${GROUP}&address=203.0.113.7`);
    expect(removed).toEqual({ status: 200, body: { removed: [added.body] } });
    expect(await read('/_rules')).toEqual([]);

    const timeline = await read('/_timeline');
    expect(timeline).toEqual([
      { at: openedAt, event: 'opened', ...rule },
      { at: aNumber, event: 'closed', ...rule },
    ]);
    expect(Number(timeline[1]?.['at'])).toBeGreaterThan(Number(openedAt));
    expect(Math.abs(Number(openedAt) / 1000 - Date.now())).toBeLessThan(60_000);
    expect(await read(`/_timeline?since=${String(openedAt)}`)).toEqual(timeline.slice(1));
    expect(await read('/_timeline?limit=1')).toEqual(timeline.slice(1));
  });

  it('are recorded with canonical ranges, all ports by default, and null for protocols without ports', async () => {
    await control('POST', '/_rules', { provider: 'AWS', target: GROUP, address: '10.1.2.3/8' });
    await control('POST', '/_rules', { ...RULE, address: '2001:DB8::1', protocol: 'all' });
    expect(await read('/_rules')).toMatchObject([
      { address: '10.0.0.0/8', protocol: 'tcp', fromPort: 0, toPort: 65_535 },
      { address: '2001:db8::1', protocol: 'all', fromPort: null, toPort: null },
    ]);
  });

  it('are checked like requests to the cloud', async () => {
    await control('POST', '/_rules', RULE);
    expect(await control('POST', '/_rules', RULE)).toMatchObject({
      status: 409,
      body: { error: 'InvalidPermission.Duplicate' },
    });
    await control('POST', '/_rules', { ...RULE, fromPort: 23, toPort: 23 });
    await control('POST', '/_rules', { ...RULE, fromPort: 24, toPort: 24 });
    expect(await control('POST', '/_rules', { ...RULE, fromPort: 25, toPort: 25 })).toMatchObject({
      status: 409,
      body: { error: 'RulesPerSecurityGroupLimitExceeded' },
    });
    const query = `provider=AWS&target=${GROUP}&fromPort=23&toPort=23`;
    expect((await control('DELETE', `/_rules?${query}`)).body).toMatchObject({ removed: [{ fromPort: 23 }] });
    expect(await read('/_rules')).toHaveLength(2);
  });
});

describe('a rule changed by another program', () => {
  it('keeps its id and ownership when it is widened, and is recorded as closed and opened', async () => {
    await openByApi('drawbridge:a', 'x');
    const [before] = await read('/_rules');
    const path = `/_rules?provider=AWS&target=${GROUP}`;
    expect(await control('PATCH', path, { fromPort: 0, toPort: 65_535 })).toMatchObject({
      status: 200,
      body: { changed: [{ fromPort: 0, toPort: 65_535, ours: true }] },
    });
    const [after] = await read('/_rules');
    expect(after).toMatchObject({ providerRuleId: before?.['providerRuleId'], fromPort: 0, ours: true });
    expect((await read('/_timeline')).map((entry) => entry['event'])).toEqual(['opened', 'closed', 'opened']);
  });

  it('is unmanaged once its mark is removed, without being closed or opened', async () => {
    await openByApi('drawbridge:a', 'y');
    const path = `/_rules?provider=AWS&target=${GROUP}`;
    expect(await control('PATCH', path, { description: 'mine now' })).toMatchObject({
      body: { changed: [{ ours: false }] },
    });
    expect(await read('/_timeline')).toHaveLength(1);
  });

  it('is checked like a request to the cloud, and accepts known fields only', async () => {
    await control('POST', '/_rules', RULE);
    await control('POST', '/_rules', { ...RULE, fromPort: 23, toPort: 23 });
    const path = `/_rules?provider=AWS&target=${GROUP}&fromPort=23`;
    expect(await control('PATCH', path, { fromPort: RULE.fromPort, toPort: RULE.toPort })).toMatchObject({
      status: 409,
      body: { error: 'InvalidPermission.Duplicate' },
    });
    expect(await control('PATCH', path, { target: '192.0.2.1' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['AWS', GROUP],
    ['GCP', 'default'],
    ['AZURE', 'simulated-group/simulated-nsg'],
  ])(
    'keeps its id in %s when it moves to another address, and can lose its mark',
    async (provider, target) => {
      const rule = { ...RULE, provider, target, description: 'drawbridge:a' };
      const added = (await control('POST', '/_rules', rule)).body as { providerRuleId: string };
      const { providerRuleId } = added;
      const path = `/_rules?provider=${provider}&target=${target}`;
      expect(await control('PATCH', path, { address: '192.0.2.1' })).toMatchObject({
        body: { changed: [{ address: '192.0.2.1', providerRuleId, ours: true, fromPort: RULE.fromPort }] },
      });
      const events = async (): Promise<unknown[]> =>
        (await read('/_timeline')).map(({ event, address }) => [event, address]);
      const moved = [
        ['opened', RULE.address],
        ['closed', RULE.address],
        ['opened', '192.0.2.1'],
      ];
      expect(await events()).toEqual(moved);
      expect(await control('PATCH', path, { description: '' })).toMatchObject({
        body: { changed: [{ address: '192.0.2.1', providerRuleId, ours: false }] },
      });
      expect(await events()).toEqual(moved);
      expect(await control('PATCH', path, { fromPort: 1, toPort: 9, protocol: 'udp' })).toMatchObject({
        body: { changed: [{ protocol: 'udp', fromPort: 1, toPort: 9, providerRuleId, ours: false }] },
      });
      expect(await control('PATCH', path, { address: 'nowhere' })).toMatchObject({ status: 409 });
    },
  );

  it('can lose its mark as an entry of a prefix list, but cannot move to another address', async () => {
    const target = 'pl-0123456789abcdef0';
    const rule = { provider: 'AWS', target, address: '203.0.113.7', description: 'drawbridge:a' };
    await control('POST', '/_rules', rule);
    const path = `/_rules?provider=AWS&target=${target}`;
    expect(await control('PATCH', path, { description: 'office' })).toMatchObject({
      body: { changed: [{ ours: false }] },
    });
    expect(await read('/_timeline')).toHaveLength(1);
    expect(await control('PATCH', path, { address: '203.0.113.8' })).toMatchObject({ status: 409 });
  });

  it('is refused in a cloud whose rules carry no mark', async () => {
    const path = '/_rules?provider=VERCEL&target=prj_simulated1';
    expect(await control('PATCH', path, { description: '' })).toMatchObject({ status: 400 });
  });
});

describe('the permissions of the role', () => {
  const LIST = 'ec2:DescribeSecurityGroups';

  it('can be taken away and given back, and a reset gives back all', async () => {
    const granted = (await read('/_roles')).find(({ provider }) => provider === 'AWS');
    await control('PUT', '/_roles', { provider: 'AWS', without: ['ec2:AuthorizeSecurityGroupIngress'] });
    await expect(openByApi('x', 'x')).rejects.toThrow(
      'not authorized to perform: ec2:AuthorizeSecurityGroup',
    );
    const { body } = await control('PUT', '/_roles', { provider: 'AWS', without: [LIST] });
    expect(granted?.['permissions']).toEqual(
      [...((body as typeof granted)!['permissions'] as string[]), LIST].toSorted(),
    );
    await openByApi('x', 'x');
    await control('POST', '/_reset');
    expect(await read('/_roles')).toContainEqual(granted);
  });

  it.each([
    ['APISIX', [], 'provider'],
    ['AWS', ['ec2:DescribeVpcs'], 'without'],
    ['AWS', LIST, 'without'],
    ['AWS', undefined, 'without'],
  ])('of %s cannot lose %j: the message names %s', async (provider, without, field) => {
    expect(await control('PUT', '/_roles', { provider, without })).toMatchObject({
      status: 400,
      body: { field },
    });
  });
});

describe('revoking tokens', () => {
  it('is possible for clouds that issue tokens, and refused for the others', async () => {
    for (const provider of ['AWS', 'GCP', 'AZURE'])
      expect(await control('POST', '/_tokens/revoke', { provider })).toMatchObject({ status: 200 });
    expect(await control('POST', '/_tokens/revoke', { provider: 'APISIX' })).toMatchObject({ status: 400 });
    expect(await control('POST', '/_tokens/revoke', {})).toMatchObject({ status: 400 });
  });
});

it.each([
  ['drawbridge:a', 'x', true],
  ['x', 'drawbridge:a', true],
  ['not drawbridge:a', 'Drawbridge:a', false],
])('recognizes the ownership mark: description "%s", tag "%s"', async (description, tag, ours) => {
  await openByApi(description, tag);
  expect(await read('/_rules')).toMatchObject([{ ...RULE, ours }]);
  expect(await read('/_timeline')).toMatchObject([{ event: 'opened', ours }]);
});

it('records every provider call, refused ones included', async () => {
  await openByApi('drawbridge:a', 'x');
  const [first] = await read('/_calls');
  await expect(openByApi('drawbridge:a', 'x')).rejects.toThrow('already exists');
  await fetch(`${simulator.url}/aws/sts`, { method: 'POST', body: 'Action=GetCallerIdentity' });
  const call = { provider: 'AWS', operation: 'AuthorizeSecurityGroupIngress', target: GROUP, items: 1 };
  expect(first).toEqual({ ...call, at: aNumber, outcome: 'OK' });
  expect(await read(`/_calls?since=${String(first?.['at'])}`)).toMatchObject([
    { ...call, outcome: 'InvalidPermission.Duplicate' },
    { provider: 'AWS', operation: 'GetCallerIdentity', target: null, outcome: 'MissingAuthenticationToken' },
  ]);
});

it('a reset clears rules, records and faults', async () => {
  await control('POST', '/_rules', RULE);
  await control('POST', '/_faults', { provider: 'AWS', kind: 'error' });
  await control('POST', '/_reset');
  for (const path of ['/_rules', '/_timeline', '/_calls', '/_faults']) expect(await read(path)).toEqual([]);
  await control('POST', '/_rules', RULE);
  expect(await read('/_rules')).toHaveLength(1);
});

it.each<[string, string, unknown, string]>([
  ['POST', '/_faults', { provider: 'AWS', kind: 'bogus' }, 'kind'],
  ['POST', '/_faults', { provider: 'AWS' }, 'kind'],
  ['POST', '/_faults', { provider: 'AWS', kind: 'slow', delayMs: -1 }, 'delayMs'],
  ['POST', '/_faults', { provider: 'AWS', kind: 'slow', delayMS: 1 }, 'delayMS'],
  ['POST', '/_faults', { provider: 'AWS', kind: 'error', count: '3' }, 'count'],
  ['POST', '/_faults', { provider: 'AWS', kind: 'error', target: 'sg-1' }, 'target'],
  ['POST', '/_faults', { provider: 'AWS', kind: 'quota', operation: 'DescribeSecurityGroups' }, 'operation'],
  ['POST', '/_faults', '[]', 'body'],
  ['POST', '/_faults', '{', 'body'],
  ['POST', '/_rules', { ...RULE, provider: 'aws' }, 'provider'],
  ['POST', '/_rules', { ...RULE, protocol: 'sctp' }, 'protocol'],
  ['POST', '/_rules', { ...RULE, fromPort: 70_000 }, 'fromPort'],
  ['GET', '/_rules?provider=AWZ', undefined, 'provider'],
  ['GET', '/_timeline?since=yesterday', undefined, 'since'],
  ['DELETE', '/_rules?provider=AWS', undefined, 'target'],
])('%s %s with invalid input is 400 and names the field', async (method, path, body, field) => {
  const answer = await control(method, path, body);
  expect(answer).toMatchObject({ status: 400, body: { error: 'Bad Request', field } });
  expect(answer).toMatchObject({ body: { message: expect.stringContaining(field) as unknown } });
});

it('errors list the methods of a path, and the allowed values of a field', async () => {
  expect(await control('PUT', '/_rules')).toMatchObject({
    status: 405,
    body: { message: '/_rules takes GET, POST, PATCH, DELETE' },
  });
  expect(await control('GET', '/_nothing')).toMatchObject({ status: 404 });
  expect((await control('POST', '/_rules', { ...RULE, provider: 'aws' })).body).toMatchObject({
    message: expect.stringMatching(/^provider must be one of: AWS, /) as string,
    allowed: expect.arrayContaining(['AWS', 'GCP', 'AZURE']) as string[],
  });
});

it('serves a page without external resources', async () => {
  const answer = await fetch(`${simulator.url}/`);
  const page = await answer.text();
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).not.toMatch(/(src|href)="(?!data:)/);
});

it('rejects when the port is taken, and frees the port when closed', async () => {
  await expect(startSimulator({ port: simulator.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  const another = await startSimulator();
  await another.close();
  const successor = await startSimulator({ port: another.port });
  expect(successor.port).toBe(another.port);
  await successor.close();
});
