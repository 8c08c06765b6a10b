import { request } from 'node:http';
import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  EC2Client,
  GetManagedPrefixListEntriesCommand,
  ModifyManagedPrefixListCommand,
  RevokeSecurityGroupIngressCommand,
} from '@aws-sdk/client-ec2';
import { DriverRegistry, type CloudTarget, type DriverCredential, type CloudDriver } from '#drivers';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { identityTokens } from '../builders/sso/federated-identity';
import { LocalServer } from '../harness/network/local-server';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';
import { addition, allOf, kinds, remove } from './driver-actions';

const REGION = 'eu-west-1';
const GROUP = 'sg-0123456789abcdef0';
const OTHER_GROUP = 'sg-0123456789abcdef1';
const LIST = 'pl-0123456789abcdef0';
const OTHER_LIST = 'pl-0123456789abcdef1';

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** A request as it came, its Host header included: signatures cover it. */
const forwarded = (to: string, headers: object, body: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(to, { method: 'POST', headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    outgoing.on('error', reject).end(body);
  });

describe.each(['ASSUME_ROLE', 'WEB_IDENTITY'])('A session of an AWS role by %s', (credentialType) => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let issuer: OidcIssuer;
  /** Between the driver and STS: records the keys of sessions. */
  let sts: LocalServer;
  let driver: CloudDriver;
  let stolen: Keys[];

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    issuer = await OidcIssuer.start();
    sts = await LocalServer.start(async ({ path, headers, body }) => {
      const answer = await forwarded(`${simulator.url}${path}`, headers, body);
      const part = (name: string): string =>
        new RegExp(`<${name}>(.*?)</${name}>`).exec(answer.body)?.[1] ?? '';
      if (answer.status === 200)
        stolen.push({
          accessKeyId: part('AccessKeyId'),
          secretAccessKey: part('SecretAccessKey'),
          sessionToken: part('SessionToken'),
        });
      return answer;
    });
    const trust = { provider: 'AWS', issuer: issuer.url, subject: credential().identity!.subject };
    await fetch(`${simulator.url}/_trusts`, { method: 'PUT', body: JSON.stringify(trust) });
  });
  beforeEach(async () => {
    stolen = [];
    sts.requests.length = 0;
    driver = await new DriverRegistry({
      AWS_ENDPOINT_URL_EC2: `${simulator.url}/aws/ec2`,
      AWS_ENDPOINT_URL_STS: `${sts.url}/aws/sts`,
      DRAWBRIDGE_AWS_ACCESS_KEY_ID: 'AKIASIMULATED0000001',
      DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: 'simulated-secret-access-key',
    }).driver('AWS');
  });
  afterAll(async () => {
    await Promise.all([sts.stop(), issuer.stop()]);
    await simulator.close();
  });

  const credential = (): DriverCredential => ({
    credentialType,
    data: {
      roleArn: `arn:aws:iam::123456789012:role/${credentialType === 'WEB_IDENTITY' ? 'federated' : 'simulated'}`,
    },
    externalId: 'external-id',
    identity: identityTokens(issuer, 'one', 'one'),
  });
  const target = (identifier: string): CloudTarget => ({
    resourceType: identifier.startsWith('pl-') ? 'PREFIX_LIST' : 'SECURITY_GROUP',
    identifier,
    region: REGION,
    credential: credential(),
    deployment: 'conformance',
    claims: new Map(),
  });
  const clientWith = (credentials: Keys): EC2Client =>
    new EC2Client({ endpoint: `${simulator.url}/aws/ec2`, region: REGION, credentials });
  const policies = (): string[] =>
    sts.requests.map(({ body }) => new URLSearchParams(body).get('Policy') ?? 'none');

  const opening = (GroupId: string): AuthorizeSecurityGroupIngressCommand =>
    new AuthorizeSecurityGroupIngressCommand({
      GroupId,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '0.0.0.0/0' }] }],
    });
  const change = (PrefixListId: string): ModifyManagedPrefixListCommand =>
    new ModifyManagedPrefixListCommand({
      PrefixListId,
      CurrentVersion: 1,
      AddEntries: [{ Cidr: '0.0.0.0/0' }],
    });
  const refused = { name: 'UnauthorizedOperation' };

  it('changes one group, and no other group and no list', async () => {
    await driver.readRules(target(GROUP));
    const client = clientWith(stolen[0]!);
    await expect(client.send(opening(OTHER_GROUP))).rejects.toMatchObject(refused);
    const removal = { GroupId: OTHER_GROUP, SecurityGroupRuleIds: ['sgr-00000000000000000'] };
    await expect(client.send(new RevokeSecurityGroupIngressCommand(removal))).rejects.toMatchObject(refused);
    await expect(client.send(change(LIST))).rejects.toMatchObject(refused);
    const reading = new GetManagedPrefixListEntriesCommand({ PrefixListId: LIST });
    await expect(client.send(reading)).rejects.toMatchObject(refused);
    expect((await client.send(opening(GROUP))).Return).toBe(true);
  });

  it('changes one list, and no other list and no group', async () => {
    await driver.readRules(target(LIST));
    const client = clientWith(stolen[0]!);
    await expect(client.send(change(OTHER_LIST))).rejects.toMatchObject(refused);
    await expect(client.send(opening(GROUP))).rejects.toMatchObject(refused);
    const reading = new DescribeSecurityGroupRulesCommand({});
    await expect(client.send(reading)).rejects.toMatchObject(refused);
    expect((await client.send(change(LIST))).PrefixList?.PrefixListId).toBe(LIST);
  });

  it('may do nothing when it only proves that the role can be assumed', async () => {
    await driver.checkCredential(credential());
    expect(stolen).toHaveLength(1);
    await expect(clientWith(stolen[0]!).send(opening(GROUP))).rejects.toMatchObject(refused);
  });

  it('is used for all calls on its target, for an hour', async () => {
    for (const identifier of [GROUP, OTHER_GROUP, LIST, GROUP, OTHER_GROUP, LIST])
      await driver.readRules(target(identifier));
    expect(sts.requests).toHaveLength(3);
    expect(new Set(policies()).size).toBe(3);
    for (const policy of policies()) expect(policy.length).toBeLessThan(600);
  });

  it('allows everything that the driver does', async () => {
    for (const identifier of [OTHER_GROUP, OTHER_LIST]) {
      await driver.verify(target(identifier), { port: 22 });
      const rule = addition(allOf('203.0.113.7/32'));
      const [added] = await driver.applyChanges(target(identifier), [rule]);
      if (added?.result !== 'done') throw new Error(JSON.stringify(added));
      const removal = remove(added.providerRuleId!);
      expect(kinds(await driver.applyChanges(target(identifier), [removal]))).toEqual(['done']);
    }
  });
});
