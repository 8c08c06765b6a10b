import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import type { CloudDriver } from '../provider-driver';
import { createAwsDriver } from './aws.driver';
import { duringTests, thrown } from '../scripted-server.testing';
import {
  SECRET,
  ScriptedEndpoint,
  refusal,
  rule,
  listed,
  session,
  account,
  add,
  target,
  roleTarget,
} from './aws.driver.testing';
import { SdkSettings } from './sdk-settings';

/** Variables that the SDK reads from the process and that select neither a credential nor an endpoint. */
const HARMLESS =
  /^AWS_(SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED|EXECUTION_ENV|LAMBDA_FUNCTION_NAME|ENABLE_DEFAULT_SOCKET_TIMEOUT_2026)$/;

/**
 * A process environment with other usable credentials and endpoints.
 * @param url the endpoint they select
 * @param readNames receives the names of the AWS variables that are read
 */
function foreignEnvironment(url: string, folder: string, readNames: Set<string>): NodeJS.ProcessEnv {
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
      if (name.startsWith('AWS_') && !HARMLESS.test(name)) readNames.add(name);
      return env[name];
    },
  });
}

describe('AWS driver: isolation from the process environment', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  /** Where the process environment points to. Must not be called. */
  const canary = new ScriptedEndpoint();
  const readNames = new Set<string>();
  const { env } = process;
  let folder: string;
  let driver: CloudDriver;

  beforeAll(async () => {
    await canary.open();
    folder = await mkdtemp(join(tmpdir(), 'aws-environment-'));
    const profile = [`endpoint_url = ${canary.url}`, `credential_process = touch ${join(folder, 'was-run')}`];
    await writeFile(
      join(folder, 'config'),
      ['[profile other]', ...profile, '[other]', ...profile, ''].join('\n'),
    );
    process.env = foreignEnvironment(canary.url, folder, readNames);
  });
  beforeEach(() => {
    driver = endpoint.newDriver();
  });
  afterAll(async () => {
    process.env = env;
    await Promise.all([canary.close(), rm(folder, { recursive: true })]);
  });
  /** Variables read from the process environment, calls to its endpoints, and files written by its processes. */
  const traces = async (): Promise<string[]> => [
    ...readNames,
    ...canary.calls.map(({ path }) => path),
    ...(await readdir(folder)),
  ];

  it('signs with the tenant’s keys, sends each request once, and uses the given endpoint', async () => {
    endpoint.reply(listed([rule('sgr-1', '203.0.113.1/32')]), refusal(503, 'RequestLimitExceeded'));
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

  it('assumes roles with the deployment’s keys', async () => {
    endpoint.respond = account(() => session(3600));
    await driver.readRules(roleTarget());
    const authorizations = endpoint.calls.map(({ headers }) => headers.authorization);
    expect(authorizations[0]).toContain('Credential=AKIADEPLOYMENT/');
    expect(authorizations[1]).toContain('Credential=ASIAROLE/');
    expect(await traces()).toEqual(['config']);
  });

  it('uses no other keys when the configured ones are missing', async () => {
    const { AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_STS } = endpoint.environment;
    const without = createAwsDriver({ AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_STS });
    for (const aim of [target({ secretAccessKey: '' }), target({ accessKeyId: '' }), roleTarget()]) {
      expect((await thrown(without.readRules(aim))).kind).toBe('denied');
      expect((await thrown(without.verify(aim, {}))).kind).toBe('denied');
      expect((await thrown(without.applyChanges(aim, [add('203.0.113.1/32')]))).kind).toBe('denied');
    }
    expect([...endpoint.calls, ...(await traces())]).toEqual(['config']);
  });

  it('uses the AWS endpoint when none is configured', async () => {
    const asked: string[] = [];
    const keys = { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET };
    const client = new EC2Client({
      ...new SdkSettings({}, 1000).clientConfig('AWS_ENDPOINT_URL_EC2', 'eu-west-1', keys),
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
