import { AuthorizeSecurityGroupIngressCommand } from '@aws-sdk/client-ec2';
import { ec2ClientOf } from '../aws/aws.testing';
import { simulatorDuringTests } from '../simulator.testing';

const GROUP = 'sg-0123456789abcdef0';
const RULE = {
  provider: 'AWS',
  target: GROUP,
  address: '203.0.113.7',
  protocol: 'tcp',
  fromPort: 22,
  toPort: 22,
};

const ISSUER = 'https://drawbridge.example.com/oidc/one';
const KEY = { kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'one', n: 'AQAB', e: 'AQAB' };

const simulator = simulatorDuringTests({ rulesPerGroup: 3 });
const { control } = simulator;

const aNumber: unknown = expect.any(Number);

const read = async (path: string): Promise<Record<string, unknown>[]> =>
  (await control('GET', path)).body as Record<string, unknown>[];

const openByApi = async (description: string, tag: string): Promise<void> => {
  const IpRanges = [{ CidrIp: '203.0.113.7/32', Description: description }];
  await ec2ClientOf(simulator.url).send(
    new AuthorizeSecurityGroupIngressCommand({
      GroupId: GROUP,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges }],
      TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: [{ Key: 'mark', Value: tag }] }],
    }),
  );
};

it('answers the service account as a key file', async () => {
  expect(await control('GET', '/_service-account')).toMatchObject({
    status: 200,
    body: { type: 'service_account', private_key: expect.stringContaining('PRIVATE KEY') as string },
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

  it('may deny in clouds whose rules have an order, which opens nothing', async () => {
    const everybody = { provider: 'GCP', target: 'default', address: '0.0.0.0/0', access: 'deny' };
    const group = { ...everybody, provider: 'AZURE', target: 'simulated-group/simulated-nsg' };
    for (const denial of [everybody, group])
      expect(await control('POST', '/_rules', { ...denial, priority: 200 })).toEqual({
        status: 201,
        body: null,
      });
    expect(await read('/_rules')).toEqual([]);
  });
});

describe('a rule changed by another program', () => {
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
});

it('lists the permissions of a role, without those that were taken away until a reset', async () => {
  const listAll = async (): Promise<unknown> =>
    (await read('/_roles')).find(({ provider }) => provider === 'AWS')?.['permissions'];
  const granted = (await listAll()) as string[];
  await control('PUT', '/_roles', { provider: 'AWS', without: [granted[0]] });
  expect(await listAll()).toEqual(granted.slice(1));
  await control('POST', '/_reset');
  expect(await listAll()).toEqual(granted);
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
});

it('a fault hits only its target, and only as often as it says', async () => {
  const fault = { provider: 'AWS', kind: 'error', count: 1 };
  await control('POST', '/_faults', { ...fault, target: 'sg-0123456789abcdef1' });
  await openByApi('x', 'x');
  expect(await read('/_faults')).toMatchObject([{ hits: 0, endsAt: null }]);
  await control('POST', '/_reset');
  await control('POST', '/_faults', { ...fault, target: GROUP });
  await expect(openByApi('x', 'x')).rejects.toMatchObject({ name: 'InternalError' });
  await openByApi('x', 'x');
});

it('a reset drops a call in progress before it changes the new state', async () => {
  await control('POST', '/_faults', { provider: 'AWS', kind: 'slow', delayMs: 400, count: 2 });
  const call = openByApi('x', 'x').catch((error: Error) => error.name);
  await vi.waitUntil(async () => (await read('/_faults'))[0]?.['hits'] === 1);
  await control('POST', '/_reset');
  expect(await call).toBeTypeOf('string');
  expect(await read('/_rules')).toEqual([]);
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
  ...[{ access: 'deny' }, { priority: 200 }, { part: 'web' }].map(
    (ordered): [string, string, unknown, string] => [
      'POST',
      '/_rules',
      { ...RULE, ...ordered },
      Object.keys(ordered)[0]!,
    ],
  ),
  ['PUT', '/_roles', { provider: 'APISIX', without: [] }, 'provider'],
  ['PUT', '/_roles', { provider: 'AWS', without: ['ec2:DescribeVpcs'] }, 'without'],
  ['POST', '/_tokens/revoke', {}, 'provider'],
])('%s %s with invalid input is 400 and names the field', async (method, path, body, field) => {
  const answer = await control(method, path, body);
  expect(answer).toMatchObject({ status: 400, body: { error: 'Bad Request', field } });
  expect(answer).toMatchObject({ body: { message: expect.stringContaining(field) as unknown } });
});

// as Google's documentation says of such files; the other clouds fetch keys
it.each<[string, string, unknown]>([
  ['AWS', 'AWS fetches keys', { keys: [KEY] }],
  ['AZURE', 'AZURE fetches keys', { keys: [KEY] }],
  ['GCP', 'jwks must be an object', JSON.stringify({ keys: [KEY] })],
  ['GCP', 'a list of keys', { keys: [] }],
  ['GCP', 'has x5c', { keys: [{ ...KEY, x5c: ['x'] }] }],
  ['GCP', 'has d', { keys: [KEY, { ...KEY, d: 'AQAB' }] }],
  ['GCP', 'RSA, EC', { keys: [{ ...KEY, kty: 'oct' }] }],
])('takes no keys of an issuer for %s where it answers "%s": %j', async (provider, words, jwks) => {
  expect(await control('PUT', '/_trusts', { provider, issuer: ISSUER, jwks })).toMatchObject({
    status: 400,
    body: { field: 'jwks', message: expect.stringContaining(words) as string },
  });
});

it('serves a page without external resources', async () => {
  const answer = await fetch(`${simulator.url}/`);
  const page = await answer.text();
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).not.toMatch(/(src|href)="(?!data:)/);
});
