import { generateKeyPairSync } from 'node:crypto';
import { CallFailure } from '../call-failure';
import { CallToken } from '../call-tokens';
import type { CloudTarget, RuleChange } from '../provider-driver';
import { duringTests, ScriptedServer, type ScriptedCall } from '../scripted-server.testing';
import { ComputeClients } from './compute-clients';
import { createGcpDriver } from './gcp.driver';
import { readTaggedNetwork } from './firewall-mapping';
import { waitForOperation, requestIdOf } from './operations';
import { VpcNetwork } from './vpc-network';

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];

const { privateKey: KEY } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const RULE_ID = '0b6ad20a-6f3c-4a24-9a0f-1c7a7d7b0a11';
const ADD: RuleChange = {
  action: 'add',
  ruleId: RULE_ID,
  spec: { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] },
  mark: { deployment: 'test', ruleId: RULE_ID, expiresAt: null },
  config: {},
};
const REMOVE: RuleChange = { action: 'remove', ruleId: RULE_ID, providerRuleId: 'drawbridge-x#7' };

const operation = (status: string, more: object = {}): Answer => [
  200,
  { kind: 'compute#operation', name: 'operation-1', status, targetId: '42', ...more },
];
const FAILED = { error: { errors: [{ code: 'QUOTA_EXCEEDED', message: 'full' }] }, httpErrorStatusCode: 403 };
const refused = (status: number, reason: string): Answer => [
  status,
  { error: { code: status, message: 'words', errors: [{ message: 'words', domain: 'global', reason }] } },
];
const EMPTY_LIST: Answer = [200, { kind: 'compute#firewallList' }];
const NETWORK: Answer = [200, { kind: 'compute#network', name: 'default' }];

const routeOf = ({ method, path }: ScriptedCall): string =>
  `${method} ${path.replace('/compute/v1/projects/p/global/', '')}`;

describe('GCP driver', () => {
  let script: Record<string, Answer[]>;
  const server = duringTests(
    new ScriptedServer((call, response) => {
      const key = Object.keys(script).find((candidate) => routeOf(call).startsWith(candidate));
      const answers = script[key ?? ''] ?? [];
      const [status, answer, headers] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [418, {}];
      response.writeHead(status, headers).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    }),
  );

  beforeEach(() => {
    script = { 'POST /token': [[200, { access_token: 'a-token', expires_in: 3599 }]] };
  });

  const newDriver = (): ReturnType<typeof createGcpDriver> =>
    createGcpDriver({
      GCP_COMPUTE_URL: server.url,
      GCP_RESOURCE_MANAGER_URL: server.url,
      GOOGLE_OAUTH_TOKEN_URL: `${server.url}/token`,
    });
  const target = (more: Record<string, string> = {}): CloudTarget => ({
    resourceType: 'FIREWALL',
    identifier: 'projects/p/global/networks/default',
    region: null,
    credential: {
      credentialType: 'SERVICE_ACCOUNT',
      data: { type: 'service_account', client_email: 'a@p.iam', private_key: KEY, ...more },
      externalId: null,
      identity: null,
    },
    deployment: 'test',
    claims: new Map(),
  });
  const routes = (): string[] => server.calls.map(routeOf).filter((route) => route !== 'POST /token');
  const failure = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no error',
      (error: unknown) => error,
    );

  it('signs for Google’s audience regardless of the key file and caches the token', async () => {
    script['GET firewalls'] = [EMPTY_LIST];
    script['GET networks'] = [NETWORK];
    const driver = await newDriver();
    const odd = target({ token_uri: 'http://169.254.169.254/', auth_uri: 'http://10.0.0.1/' });
    await driver.readRules(odd);
    await driver.readRules(odd);
    const [token, ...rest] = server.calls;
    expect(routeOf(token!)).toBe('POST /token');
    const assertion = new URLSearchParams(token?.body).get('assertion') ?? '';
    const claims: unknown = JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString());
    expect(claims).toMatchObject({ iss: 'a@p.iam', aud: 'https://oauth2.googleapis.com/token' });
    expect(rest).toHaveLength(4);
    expect(rest.every(({ headers }) => headers.authorization === 'Bearer a-token')).toBe(true);
  });

  it('continues after an empty page with a next token', async () => {
    const rule = {
      id: '42',
      name: 'office',
      direction: 'INGRESS',
      network: 'https://www.googleapis.com/compute/v1/projects/p/global/networks/default',
      sourceRanges: ['203.0.113.7/32'],
      allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
    };
    script['GET firewalls'] = [
      [200, { kind: 'compute#firewallList', nextPageToken: 'more' }],
      [200, { kind: 'compute#firewallList', items: [rule] }],
    ];
    const driver = await newDriver();
    expect((await driver.readRules(target())).rules.map(({ key }) => key)).toEqual(['203.0.113.7/32 tcp 22']);
    expect(server.calls.at(-1)?.query.get('pageToken')).toBe('more');
  });

  it.each<[string, Answer]>([
    ['an empty response', [200, '']],
    ['an empty object', [200, {}]],
    ['items without a kind', [200, { items: [] }]],
    ['items that are no list', [200, { kind: 'compute#firewallList', items: 'none' }]],
    ['a list of another kind', [200, { kind: 'compute#networkList', items: [] }]],
    ['an incomplete list', [200, { kind: 'compute#firewallList', warning: { code: 'UNREACHABLE' } }]],
    ['rules without an id', [200, { kind: 'compute#firewallList', items: [{ name: 'x' }] }]],
    ['a redirect', [307, '', { location: 'http://169.254.169.254/' }]],
    ['a failure of Compute', refused(503, 'backendError')],
  ])('treats a list response that is %s as transient and does not retry', async (_, answer) => {
    script['GET firewalls'] = [answer];
    expect(await failure((await newDriver()).readRules(target()))).toMatchObject({ kind: 'transient' });
    expect(routes()).toEqual(['GET firewalls']);
  });

  it('reports unknown when the response to a write is no operation', async () => {
    script['POST firewalls'] = [[200, { kind: 'compute#firewall' }]];
    expect(await (await newDriver()).applyChanges(target(), [ADD])).toMatchObject([{ result: 'unknown' }]);
  });

  it('reports done when the operation has completed', async () => {
    script['POST firewalls'] = [operation('PENDING')];
    script['POST operations'] = [operation('RUNNING'), refused(503, 'backendError'), operation('DONE')];
    const [result] = await (await newDriver()).applyChanges(target(), [ADD]);
    expect(result).toMatchObject({ result: 'done' });
    expect(result?.result === 'done' && result.providerRuleId).toMatch(/^drawbridge-[0-9a-f]{40}#42$/);
    expect(routes().filter((route) => route === 'POST operations/operation-1/wait')).toHaveLength(3);
  });

  it('reports refused when the operation fails later', async () => {
    script['POST firewalls'] = [operation('RUNNING')];
    script['POST operations'] = [operation('DONE', FAILED)];
    expect(await (await newDriver()).applyChanges(target(), [ADD])).toEqual([
      { result: 'refused', kind: 'quota', message: 'QUOTA_EXCEEDED: full' },
    ]);
  });

  it('reports unknown when the operation exceeds the deadline or cannot be polled', async () => {
    script['POST operations'] = [operation('RUNNING')];
    const api = await ComputeClients.load({ GCP_COMPUTE_URL: server.url });
    const network = new VpcNetwork(readTaggedNetwork(target().identifier), new CallToken('a-token'), api);
    const started = await network.wait('operation-1', 5000);
    const late = await failure(waitForOperation(network, started, performance.now() + 700));
    expect(late).toBeInstanceOf(CallFailure);
    expect(late).toMatchObject({ kind: 'transient', settled: false });
    script['POST operations'] = [refused(403, 'forbidden')];
    const blind = await failure(waitForOperation(network, started, performance.now() + 5000));
    expect(blind).toMatchObject({ kind: 'denied', settled: false });
  });

  it('repeats a write with the same request id, and uses a new one when the operation is outdated', async () => {
    script['POST firewalls'] = [operation('RUNNING')];
    script['POST operations'] = [operation('DONE')];
    script['DELETE firewalls'] = [operation('RUNNING')];
    const driver = await newDriver();
    for (let time = 0; time < 2; time += 1) await driver.applyChanges(target(), [REMOVE, ADD]);
    const ids = (verb: string): (string | null)[] =>
      server.calls
        .filter((call) => routeOf(call).startsWith(`${verb} firewalls`))
        .map(({ query }) => query.get('requestId'));
    expect(new Set(ids('POST')).size).toBe(1);
    expect(new Set(ids('DELETE')).size).toBe(1);
    server.calls = [];
    // a completed operation whose rule does not exist belongs to an earlier insert
    script['POST firewalls'] = [operation('DONE'), operation('RUNNING')];
    script['GET firewalls'] = [refused(404, 'notFound')];
    expect(await driver.applyChanges(target(), [ADD])).toMatchObject([{ result: 'done' }]);
    expect(new Set(ids('POST')).size).toBe(2);
    expect(requestIdOf('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('overwrites a rule of ours that was edited and does not change an unmanaged one', async () => {
    const standing = (description: string): Answer[] => {
      const { name } = JSON.parse(server.calls.at(-1)?.body ?? '{}') as { name: string };
      return [
        [200, { kind: 'compute#firewall', id: '9', name, direction: 'INGRESS', disabled: true, description }],
      ];
    };
    const driver = await newDriver();
    script['POST firewalls'] = [refused(409, 'alreadyExists')];
    script['GET firewalls'] = [refused(404, 'notFound')];
    expect(await driver.applyChanges(target(), [ADD])).toMatchObject([{ kind: 'conflict' }]);
    server.calls = server.calls.filter((call) => routeOf(call) === 'POST firewalls');
    script['GET firewalls'] = standing('drawbridge:other:x');
    expect(await driver.applyChanges(target(), [ADD])).toMatchObject([{ kind: 'conflict' }]);
    server.calls = server.calls.filter((call) => routeOf(call) === 'POST firewalls');
    script['GET firewalls'] = standing(`drawbridge:test:${RULE_ID}:never`);
    script['PUT firewalls'] = [operation('RUNNING')];
    script['POST operations'] = [operation('DONE')];
    expect(await driver.applyChanges(target(), [ADD])).toMatchObject([{ result: 'done' }]);
    expect(JSON.parse(server.calls.find(({ method }) => method === 'PUT')!.body)).toMatchObject({
      sourceRanges: ['203.0.113.7/32'],
    });
  });

  it.each([
    [
      ['compute.firewalls.list', 'compute.firewalls.create'],
      'The credential lacks compute.firewalls.delete, compute.firewalls.update',
    ],
    [
      [
        'compute.firewalls.list',
        'compute.firewalls.create',
        'compute.firewalls.delete',
        'compute.firewalls.update',
      ],
      'no error',
    ],
    // not meaningful: lacks the permission that the read has just used
    [[], 'no error'],
  ])('verify with the permissions %j: %s', async (permissions, verdict) => {
    script['GET networks'] = [NETWORK];
    script['GET firewalls'] = [
      [200, { kind: 'compute#firewallList', items: [{ id: '1', name: 'any', direction: 'INGRESS' }] }],
    ];
    script['GET operations'] = [refused(404, 'notFound')];
    // the Resource Manager's API is not enabled
    script['POST /v1/projects/p:testIamPermissions'] = [refused(403, 'accessNotConfigured')];
    script['POST firewalls/any/testIamPermissions'] = [[200, { permissions }]];
    const found = await failure((await newDriver()).verify(target(), {}));
    const words = found instanceof Error ? found.message : found;
    expect(words).toBe(verdict);
    expect(routes().every((route) => /^GET|testIamPermissions$/.test(route))).toBe(true);
    script['GET operations'] = [refused(403, 'forbidden')];
    expect(await failure((await newDriver()).verify(target(), {}))).toMatchObject({ kind: 'denied' });
  });

  it.each<[string, Answer, Answer, string]>([
    [
      'does not take a 400 about the project for permission',
      refused(400, 'badRequest'),
      [418, {}],
      'Google does not answer',
    ],
    [
      'does not take a 400 about a rule for permission',
      refused(403, 'accessNotConfigured'),
      refused(400, 'invalid'),
      'enable the Cloud Resource Manager API',
    ],
  ])('verify %s', async (_, onProject, onRule, words) => {
    script['GET networks'] = [NETWORK];
    script['GET firewalls'] = [EMPTY_LIST];
    script['GET operations'] = [refused(404, 'notFound')];
    script['POST /v1/projects/p:testIamPermissions'] = [onProject];
    script['POST firewalls'] = [onRule];
    const found = await failure((await newDriver()).verify(target(), {}));
    expect(found instanceof Error ? found.message : found).toContain(words);
  });

  it('hides what Google quotes of the assertion and of the token', async () => {
    script['GET firewalls'] = [[403, { error: { code: 403, message: 'no access for Bearer a-token' } }]];
    const read = await failure((await newDriver()).readRules(target()));
    expect(read instanceof Error ? read.message : read).toBe('no access for Bearer [secret]');
    // the same assertion within a second: the signature is deterministic
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    await failure((await newDriver()).checkCredential(target().credential));
    const assertion = new URLSearchParams(server.calls.at(-1)!.body).get('assertion')!;
    script['POST /token'] = [[400, { error: 'invalid_grant', error_description: `not valid: ${assertion}` }]];
    const check = await failure((await newDriver()).checkCredential(target().credential));
    vi.restoreAllMocks();
    expect(check instanceof Error ? check.message : check).toBe('invalid_grant: not valid: [secret]');
  });

  it('is denied with an invalid key without a request', async () => {
    for (const private_key of ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', '']) {
      const error = await failure((await newDriver()).readRules(target({ private_key })));
      expect(error).toMatchObject({ kind: 'denied' });
    }
    expect(server.calls).toEqual([]);
  });
});
