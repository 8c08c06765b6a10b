import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { formatMark, type ChangeResult, type RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, ProviderDriver, RuleChange } from '../provider-driver';
import { createAwsDriver } from './aws.driver';
import { accessBy } from './ec2-clients';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';

const GROUP = 'sg-0123456789abcdef0';
const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const SECRET = 'tenant-secret-access-key';
const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
const OWN_KEYS = {
  DRAWBRIDGE_AWS_ACCESS_KEY_ID: 'AKIADEPLOYMENT',
  DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: 'deployment-secret-access-key',
};

interface Call {
  readonly path: string;
  readonly action: string;
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

type Script = (call: Call, response: ServerResponse) => void;

/** An endpoint that says what the case at hand wants it to say, and remembers what it was asked. */
class ScriptedEndpoint {
  readonly calls: Call[] = [];
  script: Script = (call, response) => response.writeHead(500).end(`no answer to ${call.action}`);
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const call = {
        path: request.url ?? '',
        action: form.get('Action') ?? '',
        form,
        headers: request.headers,
      };
      this.calls.push(call);
      this.script(call, response);
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('It listens on no port');
    return `http://127.0.0.1:${address.port}`;
  }

  get actions(): string[] {
    return this.calls.map(({ action }) => action.replace('SecurityGroup', ''));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  /** Answers each call with the next of these. */
  answer(...answers: (string | { status: number; body: string })[]): void {
    this.script = (call, response) => {
      const next = answers.shift() ?? { status: 500, body: `an answer too few, to ${call.action}` };
      if (typeof next === 'string') response.end(next);
      else response.writeHead(next.status).end(next.body);
    };
  }
}

const reply = (operation: string, content: string): string =>
  `<${operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${content}</${operation}Response>`;

const refusal = (status: number, code: string, message = 'no'): { status: number; body: string } => ({
  status,
  body: `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors></Response>`,
});

const duplicate = refusal(400, 'InvalidPermission.Duplicate');
const notFound = refusal(400, 'InvalidSecurityGroupRuleId.NotFound');

const rule = (id: string, cidr: string, description = formatMark(MARK)): string =>
  `<item><securityGroupRuleId>${id}</securityGroupRuleId><isEgress>false</isEgress><ipProtocol>tcp</ipProtocol>` +
  `<fromPort>22</fromPort><toPort>22</toPort><cidrIpv4>${cidr}</cidrIpv4><description>${description}</description></item>`;

const added = (...rules: string[]): string =>
  reply(
    'AuthorizeSecurityGroupIngress',
    `<return>true</return><securityGroupRuleSet>${rules.join('')}</securityGroupRuleSet>`,
  );

const listed = (rules: readonly string[], next = ''): string =>
  reply(
    'DescribeSecurityGroupRules',
    `<securityGroupRuleSet>${rules.join('')}</securityGroupRuleSet>${next && `<nextToken>${next}</nextToken>`}`,
  );

const revoked = reply('RevokeSecurityGroupIngress', '<return>true</return>');

const groupShown = reply(
  'DescribeSecurityGroups',
  `<securityGroupInfo><item><groupId>${GROUP}</groupId></item></securityGroupInfo>`,
);

const session = (secondsLeft: number): string =>
  '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>' +
  '<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>' +
  '<SessionToken>role-session-token</SessionToken>' +
  `<Expiration>${new Date(Date.now() + secondsLeft * 1000).toISOString()}</Expiration>` +
  '</Credentials></AssumeRoleResult></AssumeRoleResponse>';

/** An account whose role is assumed as the case wants it, and whose group holds one rule. */
const account =
  (assume: (call: Call) => string | { status: number; body: string }): Script =>
  (call, response) => {
    const answer =
      call.action === 'AssumeRole'
        ? assume(call)
        : call.action === 'DescribeSecurityGroups'
          ? groupShown
          : listed([rule('sgr-1', '203.0.113.1/32')]);
    if (typeof answer === 'string') response.end(answer);
    else response.writeHead(answer.status).end(answer.body);
  };
const denied = {
  status: 403,
  body: '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>',
};

const ssh = (cidr: string): RuleSpec => ({ address: cidr, protocol: 'tcp', ports: [{ from: 22, to: 22 }] });
const add = (cidr: string): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: ssh(cidr),
  mark: MARK,
  config: {},
});
const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId,
});
const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));

const target = (data: Record<string, string> = {}): CloudTarget => ({
  resourceType: 'SECURITY_GROUP',
  identifier: GROUP,
  region: 'eu-west-1',
  credential: {
    credentialType: 'ACCESS_KEY',
    data: { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET, ...data },
    externalId: null,
  },
  deployment: 'prod',
  claims: new Map(),
});

const roleTarget = (externalId: string | null = 'external-id'): CloudTarget => ({
  ...target(),
  credential: {
    credentialType: 'ASSUME_ROLE',
    data: { roleArn: 'arn:aws:iam::123456789012:role/doors' },
    externalId,
  },
});

const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw new Error(`No DriverError but ${String(error)}`);
};

/** Names that the SDK asks the process for, and that lead to no credential and to no endpoint. */
const HARMLESS =
  /^AWS_(SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED|EXECUTION_ENV|LAMBDA_FUNCTION_NAME|ENABLE_DEFAULT_SOCKET_TIMEOUT_2026)$/;

/**
 * Surroundings full of other credentials, all of them usable.
 * @param url where they lead
 * @param looked takes the AWS names that are asked for
 */
function surroundingsOf(url: string, folder: string, looked: Set<string>): NodeJS.ProcessEnv {
  const values: NodeJS.ProcessEnv = {
    ...process.env,
    AWS_PROFILE: 'other',
    AWS_CONFIG_FILE: join(folder, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'config'),
    AWS_ACCESS_KEY_ID: 'AKIAOFTHEHOST',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-host',
    AWS_SESSION_TOKEN: 'token-of-the-host',
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_EC2: url,
    AWS_ENDPOINT_URL_STS: url,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
  };
  return new Proxy(values, {
    get: (env, name) => {
      if (typeof name !== 'string') return undefined;
      if (name.startsWith('AWS_') && !HARMLESS.test(name)) looked.add(name);
      return env[name];
    },
  });
}

const driverEnvironment = ({
  url,
}: ScriptedEndpoint): { AWS_ENDPOINT_URL_EC2: string; AWS_ENDPOINT_URL_STS: string } => ({
  AWS_ENDPOINT_URL_EC2: `${url}/ec2`,
  AWS_ENDPOINT_URL_STS: `${url}/sts`,
});

describe('AWS driver', () => {
  const endpoint = new ScriptedEndpoint();
  /** What the process environment points to, and nobody may go to. */
  const canary = new ScriptedEndpoint();
  const looked = new Set<string>();
  const { env } = process;
  let folder: string;
  let driver: ProviderDriver;

  beforeAll(async () => {
    await Promise.all([endpoint.open(), canary.open()]);
    folder = await mkdtemp(join(tmpdir(), 'aws-surroundings-'));
    const profile = [`endpoint_url = ${canary.url}`, `credential_process = touch ${join(folder, 'was-run')}`];
    await writeFile(
      join(folder, 'config'),
      ['[profile other]', ...profile, '[other]', ...profile, ''].join('\n'),
    );
    process.env = surroundingsOf(canary.url, folder, looked);
  });
  afterAll(async () => {
    process.env = env;
    await Promise.all([endpoint.close(), canary.close(), rm(folder, { recursive: true })]);
  });
  /** Looks into the process environment, calls to where it leads, and files that a process of its left. */
  const traces = async (): Promise<string[]> => [
    ...looked,
    ...canary.calls.map(({ path }) => path),
    ...(await readdir(folder)),
  ];
  beforeEach(() => {
    endpoint.calls.length = 0;
    driver = createAwsDriver({ ...driverEnvironment(endpoint), ...OWN_KEYS });
  });

  describe('reading', () => {
    it('reads page after page', async () => {
      endpoint.answer(
        listed([rule('sgr-1', '203.0.113.1/32')], 'more'),
        listed([rule('sgr-2', '203.0.113.2/32', '')]),
      );
      expect(await driver.readRules(target())).toEqual([
        { key: '203.0.113.1/32 tcp 22', providerRuleId: 'sgr-1', ownRuleId: RULE_ID },
        { key: '203.0.113.2/32 tcp 22', providerRuleId: 'sgr-2', ownRuleId: null },
      ]);
      const [first, second] = endpoint.calls.map(({ form }) => form);
      expect(Object.fromEntries(first ?? [])).toMatchObject({
        'Filter.1.Name': 'group-id',
        'Filter.1.Value.1': GROUP,
        MaxResults: '1000',
      });
      expect(second?.get('NextToken')).toBe('more');
    });

    it('reads on after an empty page that names a next one', async () => {
      endpoint.answer(listed([], 'more'), listed([rule('sgr-2', '203.0.113.2/32', '')]));
      expect((await driver.readRules(target())).map(({ providerRuleId }) => providerRuleId)).toEqual([
        'sgr-2',
      ]);
    });

    it('gives up on pages that lead nowhere', async () => {
      endpoint.script = (_, response) => response.end(listed([], 'same'));
      expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
      expect(endpoint.calls).toHaveLength(2);
    });

    it('asks for the group when the list is empty: a group that is gone has an empty list too', async () => {
      endpoint.answer(listed([]), groupShown, listed([]), refusal(400, 'InvalidGroup.NotFound'));
      expect(await driver.readRules(target())).toEqual([]);
      expect((await thrown(driver.readRules(target()))).kind).toBe('target-missing');
    });

    it.each([
      ['an HTML page', '<html><body>maintenance</body></html>'],
      ['nothing', ''],
      ['half a list', listed([rule('sgr-1', '203.0.113.1/32')]).slice(0, -60)],
      ['an error that calls itself a success', refusal(200, 'InternalError').body],
      ['a rule without an id', listed(['<item><isEgress>false</isEgress></item>'])],
    ])('never takes %s for an empty list', async (_, body) => {
      endpoint.answer(body);
      expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
      endpoint.answer(body);
      expect((await thrown(driver.verify(target()))).kind).toBe('transient');
    });

    it('says how long AWS asks to wait', async () => {
      endpoint.script = (_, response) =>
        response.writeHead(503, { 'retry-after': '7' }).end(refusal(503, 'RequestLimitExceeded').body);
      expect(await thrown(driver.readRules(target()))).toMatchObject({
        kind: 'throttled',
        retryAfterMs: 7000,
      });
      expect(endpoint.calls).toHaveLength(1);
    });
  });

  describe('writing', () => {
    it('matches the answer by what the rules let in', async () => {
      endpoint.answer(added(rule('sgr-2', '203.0.113.2/32'), rule('sgr-1', '203.0.113.1/32')));
      expect(await driver.applyChanges(target(), [add('203.0.113.1/32'), add('203.0.113.2/32')])).toEqual([
        { result: 'done', providerRuleId: 'sgr-1' },
        { result: 'done', providerRuleId: 'sgr-2' },
      ]);
    });

    it('calls unknown what the answer does not mention', async () => {
      endpoint.answer(added(rule('sgr-2', '203.0.113.2/32')));
      const changes = [add('203.0.113.1/32'), add('203.0.113.2/32')];
      expect(kinds(await driver.applyChanges(target(), changes))).toEqual(['unknown', 'done']);
    });

    it.each([
      ['an HTML page', '<html><body>maintenance</body></html>'],
      ['nothing', ''],
      ['half an answer', added(rule('sgr-1', '203.0.113.1/32')).slice(0, -50)],
      ['an error that calls itself a success', refusal(200, 'InvalidParameterValue').body],
    ])('calls unknown what is answered with %s', async (_, body) => {
      endpoint.answer(body, body);
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.1/32')]))).toEqual(['unknown']);
      expect(kinds(await driver.applyChanges(target(), [remove('sgr-1')]))).toEqual(['unknown']);
    });

    it('calls unknown what a cut connection leaves open', async () => {
      endpoint.script = (_, response) => response.destroy();
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.1/32')]))).toEqual(['unknown']);
    });

    it('takes what exists for done although the list does not show it yet', async () => {
      endpoint.answer(duplicate, listed([rule('sgr-9', '198.51.100.9/32')]), duplicate);
      expect(await driver.applyChanges(target(), [add('203.0.113.1/32')])).toEqual([
        { result: 'done', providerRuleId: null },
      ]);
      expect(endpoint.actions).toEqual(['AuthorizeIngress', 'DescribeRules', 'AuthorizeIngress']);
    });

    it('adds one by one what EC2 keeps refusing together', async () => {
      endpoint.answer(duplicate, listed([]), duplicate, duplicate, added(rule('sgr-2', '203.0.113.2/32')));
      const changes = [add('203.0.113.1/32'), add('203.0.113.2/32')];
      expect(await driver.applyChanges(target(), changes)).toEqual([
        { result: 'done', providerRuleId: null },
        { result: 'done', providerRuleId: 'sgr-2' },
      ]);
    });

    it('stops when EC2 throttles while a batch is divided', async () => {
      const malformed = refusal(400, 'InvalidParameterValue');
      endpoint.answer(
        malformed,
        added(rule('sgr-1', '203.0.113.1/32'), rule('sgr-2', '203.0.113.2/32')),
        refusal(503, 'RequestLimitExceeded'),
      );
      const changes = [1, 2, 3, 4].map((host) => add(`203.0.113.${host}/32`));
      expect(kinds(await driver.applyChanges(target(), changes))).toEqual([
        'done',
        'done',
        'throttled',
        'throttled',
      ]);
      endpoint.answer(malformed, refusal(503, 'RequestLimitExceeded'));
      expect(kinds(await driver.applyChanges(target(), changes))).toEqual(changes.map(() => 'throttled'));
    });

    it('sends nothing more when the list cannot be read after a refusal', async () => {
      endpoint.answer(duplicate, refusal(503, 'RequestLimitExceeded'));
      expect(
        kinds(await driver.applyChanges(target(), [add('203.0.113.1/32'), add('203.0.113.2/32')])),
      ).toEqual(['throttled', 'throttled']);
      endpoint.answer(notFound, refusal(500, 'InternalError'));
      expect(kinds(await driver.applyChanges(target(), [remove('sgr-1'), add('203.0.113.1/32')]))).toEqual([
        'transient',
        'transient',
      ]);
    });

    it('believes that a rule is gone only when the list says so too', async () => {
      endpoint.answer(notFound, listed([rule('sgr-1', '203.0.113.1/32')]), notFound);
      expect(kinds(await driver.applyChanges(target(), [remove('sgr-1'), remove('sgr-2')]))).toEqual([
        'conflict',
        'done',
      ]);
    });

    it('removes the others when the id of one is malformed', async () => {
      const malformed = refusal(400, 'InvalidSecurityGroupRuleId.Malformed');
      endpoint.answer(malformed, revoked, malformed, malformed, revoked);
      const changes = ['sgr-1', 'sgr-2', 'rubbish', 'sgr-4'].map(remove);
      expect(kinds(await driver.applyChanges(target(), changes))).toEqual([
        'done',
        'done',
        'invalid',
        'done',
      ]);
    });

    it('sends no rule with several port ranges: EC2 would make several rules of it', async () => {
      const spec: RuleSpec = {
        address: '203.0.113.1/32',
        protocol: 'tcp',
        ports: [
          { from: 22, to: 22 },
          { from: 80, to: 80 },
        ],
      };
      const changes: RuleChange[] = [{ action: 'add', ruleId: RULE_ID, spec, mark: MARK, config: {} }];
      expect((await thrown(driver.applyChanges(target(), changes))).kind).toBe('invalid');
      expect(endpoint.calls).toEqual([]);
    });

    it('ends a call whose answer begins and never ends', async () => {
      endpoint.script = (_, response) => {
        response.writeHead(200).write('<AuthorizeSecurityGroupIngressResponse>');
      };
      const settings = new SdkSettings({ AWS_ENDPOINT_URL_EC2: endpoint.url }, 200);
      const keys = { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET };
      const client = new EC2Client(settings.for('AWS_ENDPOINT_URL_EC2', 'eu-west-1', keys));
      const group = new SecurityGroup(GROUP, accessBy(client, keys), settings);
      expect(await thrown(group.authorize([]))).toMatchObject({ kind: 'transient', settled: false });
    });
  });

  describe('credentials', () => {
    it.each([
      ['no secret', { secretAccessKey: '' }, 'secretAccessKey'],
      ['no key id', { accessKeyId: '' }, 'accessKeyId'],
    ])('refuses a credential with %s, and looks for no other', async (_, data, field) => {
      const error = await thrown(driver.readRules(target(data)));
      expect(error).toMatchObject({ kind: 'denied', message: `The credential has no ${field}` });
      expect((await thrown(driver.applyChanges(target(data), [add('203.0.113.1/32')]))).kind).toBe('denied');
      expect(endpoint.calls).toEqual([]);
    });

    it.each([null, '', 'eu-west-1.example.com/', 'localhost'])('refuses the region %p', async (region) => {
      expect((await thrown(driver.readRules({ ...target(), region }))).kind).toBe('invalid');
    });

    it('refuses other objects and other credentials', async () => {
      expect((await thrown(driver.readRules({ ...target(), resourceType: 'ROUTE' }))).kind).toBe('invalid');
      const credential = { ...target().credential, credentialType: 'TOKEN' };
      expect((await thrown(driver.readRules({ ...target(), credential }))).kind).toBe('denied');
    });

    it('keeps secrets out of messages, though AWS quotes the signed headers', async () => {
      const quoted = `The Canonical String should have been 'x-amz-security-token:tenant-session-token' ${SECRET}`;
      endpoint.answer(refusal(403, 'SignatureDoesNotMatch', quoted));
      const { kind, message } = await thrown(
        driver.readRules(target({ sessionToken: 'tenant-session-token' })),
      );
      expect(kind).toBe('denied');
      expect(message).toContain('x-amz-security-token:[secret]');
      expect(message).not.toContain(SECRET);
    });

    it('uses a new secret at once', async () => {
      endpoint.script = (_, response) => response.end(listed([rule('sgr-1', '203.0.113.1/32')]));
      await driver.readRules(target({ sessionToken: 'first' }));
      await driver.readRules(target({ sessionToken: 'second' }));
      expect(endpoint.calls.map(({ headers }) => headers['x-amz-security-token'])).toEqual([
        'first',
        'second',
      ]);
    });
  });

  describe('with other credentials all around', () => {
    it('signs with the tenant’s keys, once, where the given environment says', async () => {
      endpoint.answer(listed([rule('sgr-1', '203.0.113.1/32')]), refusal(503, 'RequestLimitExceeded'));
      await driver.readRules(target());
      expect((await thrown(driver.readRules(target()))).kind).toBe('throttled');
      expect(endpoint.calls).toHaveLength(2);
      const [call] = endpoint.calls;
      expect(call?.path).toBe('/ec2/');
      expect(call?.headers.authorization).toContain('Credential=AKIATENANT/');
      expect(call?.headers.authorization).toContain('/eu-west-1/ec2/');
      expect(call?.headers['x-amz-security-token']).toBeUndefined();
      expect(await traces()).toEqual(['config']);
    });

    it('assumes roles with the keys meant for it', async () => {
      endpoint.script = account(() => session(3600));
      await driver.readRules(roleTarget());
      const authorizations = endpoint.calls.map(({ headers }) => headers.authorization);
      expect(authorizations[0]).toContain('Credential=AKIADEPLOYMENT/');
      expect(authorizations[1]).toContain('Credential=ASIAROLE/');
      expect(await traces()).toEqual(['config']);
    });

    it('uses no other keys when its own are missing', async () => {
      const { AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_STS } = driverEnvironment(endpoint);
      const without = createAwsDriver({ AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_STS });
      for (const aim of [target({ secretAccessKey: '' }), target({ accessKeyId: '' }), roleTarget()]) {
        expect((await thrown(without.readRules(aim))).kind).toBe('denied');
        expect((await thrown(without.verify(aim))).kind).toBe('denied');
        expect((await thrown(without.applyChanges(aim, [add('203.0.113.1/32')]))).kind).toBe('denied');
      }
      expect([...endpoint.calls, ...(await traces())]).toEqual(['config']);
    });

    it('goes to AWS itself when no endpoint is given', async () => {
      const asked: string[] = [];
      const keys = { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET };
      const client = new EC2Client({
        ...new SdkSettings({}, 1000).for('AWS_ENDPOINT_URL_EC2', 'eu-west-1', keys),
        requestHandler: {
          handle: ({ protocol, hostname }: { protocol: string; hostname: string }) => {
            asked.push(`${protocol}//${hostname}`);
            return Promise.reject(new Error('not in a test'));
          },
        },
      });
      await expect(client.send(new DescribeSecurityGroupsCommand())).rejects.toThrow('not in a test');
      expect(asked).toEqual(['https://ec2.eu-west-1.amazonaws.com']);
      expect(await traces()).toEqual(['config']);
    });
  });

  describe('roles', () => {
    it('assumes the role once, with the external id and by its own keys', async () => {
      endpoint.script = account(() => session(3600));
      await Promise.all([driver.readRules(roleTarget()), driver.readRules(roleTarget())]);
      await driver.readRules(roleTarget());
      const [first, ...rest] = endpoint.calls;
      expect(first?.path).toBe('/sts/');
      expect(Object.fromEntries(first?.form ?? [])).toMatchObject({
        Action: 'AssumeRole',
        RoleArn: 'arn:aws:iam::123456789012:role/doors',
        RoleSessionName: 'drawbridge',
        ExternalId: 'external-id',
      });
      expect(first?.headers.authorization).toContain('Credential=AKIADEPLOYMENT/');
      expect(rest.map(({ headers }) => headers['x-amz-security-token'])).toEqual(
        rest.map(() => 'role-session-token'),
      );
      expect(rest.map(({ action }) => action)).toEqual(rest.map(() => 'DescribeSecurityGroupRules'));
    });

    it('assumes it again five minutes before the session ends, for another external id, and after a denial', async () => {
      endpoint.script = account(() => session(299));
      await driver.readRules(roleTarget());
      await driver.readRules(roleTarget());
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(2);
      endpoint.script = account(() => session(3600));
      await driver.readRules(roleTarget());
      await driver.readRules(roleTarget('another'));
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(4);
      endpoint.answer(refusal(403, 'UnauthorizedOperation'));
      await thrown(driver.readRules(roleTarget()));
      endpoint.answer(session(3600), refusal(403, 'UnauthorizedOperation'));
      expect(kinds(await driver.applyChanges(roleTarget(), [remove('sgr-1')]))).toEqual(['denied']);
      endpoint.script = account(() => session(3600));
      await driver.readRules(roleTarget());
      expect(endpoint.actions.filter((action) => action === 'AssumeRole')).toHaveLength(6);
    });

    it('does not remember a refusal', async () => {
      endpoint.script = account(() => denied);
      const error = await thrown(driver.readRules(roleTarget()));
      expect(error).toMatchObject({ kind: 'denied', message: 'AccessDenied: not you' });
      endpoint.script = account(() => session(3600));
      expect(await driver.readRules(roleTarget())).toHaveLength(1);
    });

    it('verifies a role that asks for the external id, and refuses one that takes anyone', async () => {
      endpoint.script = account(({ form }) =>
        form.get('ExternalId') === 'external-id' ? session(3600) : denied,
      );
      await driver.verify(roleTarget());
      endpoint.script = account(() => session(3600));
      const error = await thrown(driver.verify(roleTarget()));
      expect(error.kind).toBe('denied');
      expect(error.message).toContain('sts:ExternalId');
      expect((await thrown(driver.readRules(roleTarget(null)))).kind).toBe('denied');
    });

    it('checks a role by assuming it anew each time, and refuses one that takes anyone', async () => {
      endpoint.script = account(({ form }) =>
        form.get('ExternalId') === 'external-id' ? session(3600) : denied,
      );
      const { credential } = roleTarget();
      await driver.checkCredential(credential);
      await driver.checkCredential(credential);
      expect(endpoint.calls.map(({ form }) => form.get('ExternalId'))).toEqual([
        'external-id',
        null,
        'external-id',
        null,
      ]);
      endpoint.script = account(() => session(3600));
      expect((await thrown(driver.checkCredential(credential))).message).toContain('sts:ExternalId');
      endpoint.script = account(() => denied);
      expect(await thrown(driver.checkCredential(credential))).toMatchObject({
        kind: 'denied',
        message: 'AccessDenied: not you',
      });
    });

    it.each([
      ['arn:aws:iam::123456789012:role/doors', 'us-east-1'],
      ['arn:aws-us-gov:iam::123456789012:role/doors', 'us-gov-west-1'],
      ['arn:aws-cn:iam::123456789012:role/doors', 'cn-north-1'],
    ])('checks %s in %s', async (roleArn, region) => {
      endpoint.script = account(({ form }) => (form.has('ExternalId') ? session(3600) : denied));
      await driver.checkCredential({ ...roleTarget().credential, data: { roleArn } });
      expect(endpoint.calls[0]?.headers.authorization).toContain(`/${region}/sts/`);
    });

    it('names the variables that are missing when the deployment has no identity', async () => {
      const without = createAwsDriver({
        AWS_ENDPOINT_URL_STS: endpoint.url,
        AWS_ENDPOINT_URL_EC2: endpoint.url,
      });
      const error = await thrown(without.readRules(roleTarget()));
      expect(error.kind).toBe('denied');
      for (const variable of Object.keys(OWN_KEYS)) expect(error.message).toContain(variable);
      expect(endpoint.calls).toEqual([]);
    });

    it('draws on the account of the role or key, in its region', () => {
      expect(driver.accountKey(target())).toBe('AWS:AKIATENANT:eu-west-1');
      expect(driver.accountKey(roleTarget())).toBe('AWS:arn:aws:iam::123456789012:role/doors:eu-west-1');
    });
  });
});
