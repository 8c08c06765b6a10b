import { spawn, type ChildProcess } from 'node:child_process';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { DriverRegistry, type CloudTarget } from '#drivers';
import { freePort } from '../harness/network/free-port';
import { until } from '../harness/until';
import { addition, allOf, claiming, kinds, remove } from './driver-actions';

/** The program `moto_server` of moto 5, of PyPI: another implementation of AWS, which .ci/moto installs. */
const MOTO = process.env['MOTO_SERVER'];
const KEYS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'any-secret-access-key' };
const ADDRESSES = ['203.0.113.7/32', '203.0.113.8/32'];

const target = (resourceType: string, identifier: string): CloudTarget =>
  claiming(
    {
      resourceType,
      identifier,
      region: 'eu-central-1',
      credential: { credentialType: 'ACCESS_KEY', data: KEYS, externalId: null, identity: null },
      deployment: 'conformance',
      claims: new Map(),
    },
    ...ADDRESSES,
  );
const ADDITIONS = ADDRESSES.map((address) => addition(allOf(address)));

/** moto proves tokens and shapes. Of lists, it takes host bits and other IP versions, and finishes an update of EKS at once. */
describe.runIf(MOTO !== undefined)('Against moto, the driver of AWS', () => {
  let moto: ChildProcess;
  let url: string;
  let registry: DriverRegistry;

  /** Without a signature, which moto does not check. */
  async function made(
    service: string,
    path: string,
    body: object,
    headers = {},
  ): Promise<Record<string, unknown>> {
    const authorization = `AWS4-HMAC-SHA256 Credential=any/20260101/eu-central-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
    const init = { method: 'POST', headers: { authorization, ...headers }, body: JSON.stringify(body) };
    return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
  }

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    moto = spawn(MOTO!, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    await until('moto answers', () =>
      fetch(`${url}/moto-api/`).then(
        () => true,
        () => false,
      ),
    );
    registry = new DriverRegistry({
      AWS_ENDPOINT_URL_EC2: url,
      AWS_ENDPOINT_URL_EKS: url,
      AWS_ENDPOINT_URL_WAFV2: url,
    });
  });
  afterAll(() => void moto.kill());

  it('changes the rules of a security group, and keeps what is not its own', async () => {
    const ec2 = new EC2Client({ endpoint: url, region: 'eu-central-1', credentials: KEYS });
    const { GroupId = '' } = await ec2.send(
      new CreateSecurityGroupCommand({ GroupName: 'database', Description: 'of the database' }),
    );
    const office = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '198.51.100.0/24' }] };
    await ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: [office] }));
    const driver = await registry.driverFor('AWS', 'SECURITY_GROUP');
    const group = target('SECURITY_GROUP', GroupId);
    await driver.verify(group, { port: 22 });
    const addresses = [...ADDRESSES, '2001:db8::7/128'];
    const changes = addresses.map((address) =>
      addition({ address, protocol: 'tcp', ports: [{ from: 22, to: 22 }] }),
    );
    expect(kinds(await driver.applyChanges(group, changes))).toEqual(['done', 'done', 'done']);
    const rules = (await driver.readRules(group)).rules;
    const added = changes.map(({ ruleId }, index) => `${addresses[index]!} tcp 22 ${ruleId}`);
    expect(rules.map(({ key, ownRuleId }) => `${key} ${ownRuleId}`).toSorted()).toEqual(
      ['198.51.100.0/24 tcp 22 null', ...added].toSorted(),
    );
    const ours = rules.flatMap(({ ownRuleId, providerRuleId }) =>
      ownRuleId === null ? [] : [providerRuleId],
    );
    expect(kinds(await driver.applyChanges(group, ours.map(remove)))).toEqual(['done', 'done', 'done']);
    expect((await driver.readRules(group)).rules.map(({ key }) => key)).toEqual(['198.51.100.0/24 tcp 22']);
    ec2.destroy();
  });

  it('changes IP sets of WAF, and keeps what is not its own', async () => {
    const body = await made(
      'wafv2',
      '/',
      {
        Name: 'office',
        Scope: 'REGIONAL',
        Description: 'the office',
        IPAddressVersion: 'IPV4',
        Addresses: ['198.51.100.0/24'],
      },
      { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSWAF_20190729.CreateIPSet' },
    );
    const { ARN: arn } = body['Summary'] as { ARN: string };
    const driver = await registry.driverFor('AWS', 'WAF_IP_SET');
    const set = target('WAF_IP_SET', arn);
    const verified = await driver.verify(set, {});
    expect(verified && verified.warnings).toEqual([expect.stringContaining('turns access into a block')]);
    expect(kinds(await driver.applyChanges(set, ADDITIONS))).toEqual(['done', 'done']);
    expect((await driver.readRules(set)).rules.map(({ key }) => key)).toEqual(
      ['198.51.100.0/24', ...ADDRESSES].map((address) => `${address} all *`),
    );
    expect(kinds(await driver.applyChanges(set, ADDRESSES.map(remove)))).toEqual(['done', 'done']);
    expect((await driver.readRules(set)).rules.map(({ ownRuleId }) => ownRuleId)).toEqual([null]);
  });

  it('changes the public endpoint of a cluster, and keeps what is not its own', async () => {
    const body = await made('eks', '/clusters', {
      name: 'production',
      roleArn: 'arn:aws:iam::123456789012:role/eks',
      resourcesVpcConfig: {
        subnetIds: ['subnet-1', 'subnet-2'],
        endpointPublicAccess: true,
        publicAccessCidrs: ['198.51.100.0/24'],
      },
    });
    const { arn } = body['cluster'] as { arn: string };
    const driver = await registry.driverFor('AWS', 'EKS_CLUSTER');
    const cluster = target('EKS_CLUSTER', arn);
    // moto answers with the cluster instead of the update: only a read shows what has become of it
    expect(kinds(await driver.applyChanges(cluster, ADDITIONS))).toEqual(['unknown', 'unknown']);
    expect((await driver.readRules(cluster)).rules.map(({ key }) => key)).toEqual(
      ['198.51.100.0/24', ...ADDRESSES].map((address) => `${address} all *`),
    );
    expect(kinds(await driver.applyChanges(cluster, ADDRESSES.map(remove)))).toEqual(['unknown', 'unknown']);
    expect((await driver.readRules(cluster)).rules.map(({ ownRuleId }) => ownRuleId)).toEqual([null]);
  });
});
