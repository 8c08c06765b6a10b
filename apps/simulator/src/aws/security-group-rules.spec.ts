import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  DescribeVpcsCommand,
  EC2Client,
  RevokeSecurityGroupIngressCommand,
  type AuthorizeSecurityGroupIngressCommandInput,
  type IpPermission,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { startSimulator, type RunningSimulator } from '../start-simulator';

const GROUP = 'sg-0123456789abcdef0';
const OTHER_GROUP = 'sg-0123456789abcdef1';

let simulator: RunningSimulator;
let ec2: EC2Client;

const connect = (url: string, region: string): EC2Client =>
  new EC2Client({
    region,
    endpoint: `${url}/aws/ec2`,
    maxAttempts: 1,
    credentials: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
  });

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  simulator = await startSimulator({ writeBurst: 100_000, readBurst: 100_000 });
  ec2 = connect(simulator.url, 'eu-west-1');
});

afterAll(async () => {
  ec2.destroy();
  await simulator.close();
});

beforeEach(async () => {
  await fetch(`${simulator.url}/_reset`, { method: 'POST' });
});

const tcp = (port: number, ...cidrs: string[]): IpPermission => ({
  IpProtocol: 'tcp',
  FromPort: port,
  ToPort: port,
  IpRanges: cidrs.map((CidrIp) => ({ CidrIp })),
});

const authorize = async (
  permissions: IpPermission[],
  more: Partial<AuthorizeSecurityGroupIngressCommandInput> = {},
): Promise<SecurityGroupRule[]> => {
  const command = new AuthorizeSecurityGroupIngressCommand({
    GroupId: GROUP,
    IpPermissions: permissions,
    ...more,
  });
  return (await ec2.send(command)).SecurityGroupRules ?? [];
};

const inbound = async (groupId = GROUP): Promise<SecurityGroupRule[]> => {
  const command = new DescribeSecurityGroupRulesCommand({
    Filters: [{ Name: 'group-id', Values: [groupId] }],
  });
  return ((await ec2.send(command)).SecurityGroupRules ?? []).filter((rule) => !rule.IsEgress);
};

const revoke = async (input: { SecurityGroupRuleIds?: string[]; IpPermissions?: IpPermission[] }) =>
  ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId: GROUP, ...input }));

const write = async (client: EC2Client, cidr: string) =>
  client.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: GROUP, IpPermissions: [tcp(22, cidr)] }));

const idsOf = (rules: readonly (SecurityGroupRule | undefined)[]): string[] =>
  rules.map((rule) => rule?.SecurityGroupRuleId ?? '');

describe('AuthorizeSecurityGroupIngress', () => {
  it('adds a rule for every range, canonical, with description and tags', async () => {
    const added = await authorize(
      [
        {
          ...tcp(22),
          IpRanges: [{ CidrIp: '203.0.113.77/24', Description: 'drawbridge:a & b c' }],
          Ipv6Ranges: [{ CidrIpv6: '2001:DB8:0:0::1/64' }],
        },
        { IpProtocol: '17', FromPort: 53, ToPort: 54, IpRanges: [{ CidrIp: '198.51.100.1/32' }] },
        { IpProtocol: '-1', IpRanges: [{ CidrIp: '198.51.100.2/32' }] },
        { IpProtocol: 'icmpv6', Ipv6Ranges: [{ CidrIpv6: '2001:db8::2/128' }] },
      ],
      { TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: [{ Key: 'k', Value: 'v' }] }] },
    );
    const seen = await inbound();
    expect(seen).toEqual(added);
    expect(new Set(idsOf(added)).size).toBe(5);
    expect(seen.map((rule) => [rule.IpProtocol, rule.FromPort, rule.CidrIpv4 ?? rule.CidrIpv6])).toEqual([
      ['tcp', 22, '203.0.113.0/24'],
      ['tcp', 22, '2001:db8::/64'],
      ['udp', 53, '198.51.100.1/32'],
      ['-1', -1, '198.51.100.2/32'],
      ['icmpv6', -1, '2001:db8::2/128'],
    ]);
    expect(seen[0]).toMatchObject({
      Description: 'drawbridge:a & b c',
      Tags: [{ Key: 'k', Value: 'v' }],
      GroupId: GROUP,
      IsEgress: false,
    });
    expect(seen[0]?.SecurityGroupRuleId).toMatch(/^sgr-[0-9a-f]{17}$/);
  });

  it('refuses the whole request when one rule exists, regardless of the description', async () => {
    await authorize([tcp(22, '203.0.113.1/32')]);
    await expect(authorize([tcp(22, '203.0.113.2/32', '203.0.113.1/32')])).rejects.toMatchObject({
      name: 'InvalidPermission.Duplicate',
      message:
        'the specified rule "peer: 203.0.113.1/32, TCP, from port: 22, to port: 22, ALLOW" already exists',
      $metadata: { httpStatusCode: 400 },
    });
    expect(await inbound()).toHaveLength(1);
  });

  it('limits IPv4 and IPv6 rules separately, and adds none above the limit', async () => {
    const v4 = Array.from({ length: 60 }, (_, host) => `203.0.113.${host}/32`);
    await authorize([tcp(22, ...v4.slice(0, 59))]);
    await expect(authorize([tcp(23, '203.0.113.1/32', '203.0.113.2/32')])).rejects.toMatchObject({
      name: 'RulesPerSecurityGroupLimitExceeded',
    });
    await authorize([{ ...tcp(22, '203.0.113.59/32'), Ipv6Ranges: [{ CidrIpv6: '2001:db8::/64' }] }]);
    await expect(authorize([tcp(22, '198.51.100.1/32')])).rejects.toMatchObject({
      name: 'RulesPerSecurityGroupLimitExceeded',
    });
    expect(await inbound()).toHaveLength(61);
  });

  it.each<[string, string, IpPermission[], Partial<AuthorizeSecurityGroupIngressCommandInput>]>([
    ['InvalidParameterValue', 'a permission named twice', [tcp(22, '10.0.0.1/8', '10.0.0.0/8')], {}],
    ['InvalidParameterValue', 'a malformed CIDR', [tcp(22, '203.0.113.1')], {}],
    ['InvalidParameterValue', 'an octal address', [tcp(22, '010.0.0.1/32')], {}],
    ['InvalidParameterValue', 'IPv6 in the IPv4 ranges', [tcp(22, '::1/128')], {}],
    ['InvalidParameterValue', 'a port out of range', [tcp(65_536, '203.0.113.1/32')], {}],
    ['InvalidParameterValue', 'a reversed port range', [{ ...tcp(9, '203.0.113.1/32'), ToPort: 8 }], {}],
    ['InvalidParameterValue', 'no ports', [{ IpProtocol: 'tcp', IpRanges: [{ CidrIp: '10.0.0.0/8' }] }], {}],
    ['InvalidParameterValue', 'an unknown protocol', [{ ...tcp(22, '10.0.0.0/8'), IpProtocol: 'tpc' }], {}],
    [
      'InvalidParameterValue',
      'a description with a bar',
      [{ ...tcp(22), IpRanges: [{ CidrIp: '203.0.113.1/32', Description: 'a|b' }] }],
      {},
    ],
    [
      'InvalidParameterValue',
      'a description of 256 characters',
      [{ ...tcp(22), IpRanges: [{ CidrIp: '203.0.113.1/32', Description: 'a'.repeat(256) }] }],
      {},
    ],
    [
      'InvalidParameterValue',
      'tags for another type',
      [tcp(22, '203.0.113.1/32')],
      { TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'k', Value: 'v' }] }] },
    ],
    ['MissingParameter', 'no source', [tcp(22)], {}],
    ['MissingParameter', 'no permission', [], {}],
    [
      'InvalidGroup.NotFound',
      'an unknown group',
      [tcp(22, '10.0.0.0/8')],
      { GroupId: 'sg-0000000000000000f' },
    ],
    ['InvalidGroupId.Malformed', 'no group id', [tcp(22, '10.0.0.0/8')], { GroupId: 'web' }],
  ])('answers %s to %s', async (name, _label, permissions, more) => {
    await expect(authorize(permissions, more)).rejects.toMatchObject({ name });
    expect(await inbound()).toEqual([]);
  });

  it('changes nothing in a dry run', async () => {
    await expect(authorize([tcp(22, '203.0.113.1/32')], { DryRun: true })).rejects.toMatchObject({
      name: 'DryRunOperation',
      $metadata: { httpStatusCode: 412 },
    });
    expect(await inbound()).toEqual([]);
  });
});

describe('RevokeSecurityGroupIngress', () => {
  it('removes by id and by permission, and returns the removed rules', async () => {
    const [first, second] = await authorize([tcp(22, '203.0.113.1/32', '203.0.113.2/32', '203.0.113.3/32')]);
    const byId = await revoke({ SecurityGroupRuleIds: idsOf([first, second]) });
    expect(byId.RevokedSecurityGroupRules?.map((rule) => rule.CidrIpv4)).toEqual([
      '203.0.113.1/32',
      '203.0.113.2/32',
    ]);
    await revoke({ IpPermissions: [tcp(22, '203.0.113.3/32')] });
    expect(await inbound()).toEqual([]);
  });

  it('removes nothing when one of the rules does not exist', async () => {
    const [rule] = await authorize([tcp(22, '203.0.113.1/32')]);
    await expect(
      revoke({ IpPermissions: [tcp(22, '203.0.113.1/32', '203.0.113.2/32')] }),
    ).rejects.toMatchObject({ name: 'InvalidPermission.NotFound' });
    await expect(
      revoke({ SecurityGroupRuleIds: [rule?.SecurityGroupRuleId ?? '', 'sgr-00000000000000000'] }),
    ).rejects.toMatchObject({ name: 'InvalidSecurityGroupRuleId.NotFound' });
    await expect(revoke({ SecurityGroupRuleIds: ['sgr-x'] })).rejects.toMatchObject({
      name: 'InvalidSecurityGroupRuleId.Malformed',
    });
    await expect(revoke({})).rejects.toMatchObject({ name: 'MissingParameter' });
    expect(await inbound()).toHaveLength(1);
  });
});

describe('Describing rules and groups', () => {
  it('pages through inbound and outbound rules without repeating or skipping any', async () => {
    await authorize([tcp(22, ...Array.from({ length: 11 }, (_, host) => `203.0.113.${host}/32`))]);
    const pages: SecurityGroupRule[][] = [];
    let NextToken: string | undefined;
    do {
      const page = await ec2.send(
        new DescribeSecurityGroupRulesCommand({
          Filters: [{ Name: 'group-id', Values: [GROUP] }],
          MaxResults: 5,
          NextToken,
        }),
      );
      pages.push(page.SecurityGroupRules ?? []);
      NextToken = page.NextToken;
      const [removed] = (await inbound()).slice(0, pages.length === 1 ? 1 : 0);
      if (removed) await revoke({ SecurityGroupRuleIds: idsOf([removed]) });
    } while (NextToken);
    expect(pages.map((page) => page.length)).toEqual([5, 5, 2]);
    expect(new Set(idsOf(pages.flat())).size).toBe(12);
    expect(pages.flat().filter((rule) => rule.IsEgress)).toHaveLength(1);
  });

  it('filters by rule id and tag, and refuses unknown filters', async () => {
    const [rule] = await authorize([tcp(22, '203.0.113.1/32')], {
      TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: [{ Key: 'who', Value: 'me' }] }],
    });
    await authorize([tcp(22, '203.0.113.2/32')]);
    const find = async (Name: string, value: string) =>
      ec2.send(new DescribeSecurityGroupRulesCommand({ Filters: [{ Name, Values: [value] }] }));
    expect((await find('tag:who', 'me')).SecurityGroupRules).toEqual([rule]);
    expect(
      (await find('security-group-rule-id', rule?.SecurityGroupRuleId ?? '')).SecurityGroupRules,
    ).toEqual([rule]);
    await expect(find('colour', 'red')).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(ec2.send(new DescribeSecurityGroupRulesCommand({ MaxResults: 4 }))).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
    await expect(
      ec2.send(new DescribeSecurityGroupRulesCommand({ SecurityGroupRuleIds: ['sgr-00000000000000000'] })),
    ).rejects.toMatchObject({ name: 'InvalidSecurityGroupRuleId.NotFound' });
  });

  it('describes groups with their permissions, the same in every region', async () => {
    await authorize([tcp(22, '203.0.113.1/32'), tcp(443, '203.0.113.1/32')]);
    const elsewhere = connect(simulator.url, 'us-east-1');
    const command = new DescribeSecurityGroupsCommand({ GroupIds: [GROUP] });
    const { SecurityGroups } = await elsewhere.send(command);
    elsewhere.destroy();
    expect(SecurityGroups).toHaveLength(1);
    expect(SecurityGroups?.[0]).toMatchObject({ GroupId: GROUP, OwnerId: '123456789012' });
    expect(SecurityGroups?.[0]?.IpPermissions?.map((permission) => permission.FromPort)).toEqual([22, 443]);
    expect((await ec2.send(new DescribeSecurityGroupsCommand({}))).SecurityGroups).toHaveLength(10);
    await expect(
      ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: ['sg-0000000000000000f'] })),
    ).rejects.toMatchObject({ name: 'InvalidGroup.NotFound' });
  });
});

it('has the configured number of groups, with ids that count up in hexadecimal', async () => {
  const large = await startSimulator({ groups: 200 });
  const here = connect(large.url, 'eu-west-1');
  const { SecurityGroups = [] } = await here.send(new DescribeSecurityGroupsCommand({}));
  const ids = SecurityGroups.map(({ GroupId }) => GroupId);
  expect(new Set(ids).size).toBe(200);
  expect(ids.slice(0, 2)).toEqual([GROUP, OTHER_GROUP]);
  expect(ids.slice(15, 17)).toEqual(['sg-0123456789abcdeff', 'sg-0123456789abcdf00']);
  const added = new AuthorizeSecurityGroupIngressCommand({
    GroupId: ids.at(-1)!,
    IpPermissions: [tcp(22, '203.0.113.1/32')],
  });
  expect((await here.send(added)).SecurityGroupRules).toHaveLength(1);
  here.destroy();
  await large.close();
});

it('answers InvalidAction to an action that is not simulated', async () => {
  await expect(ec2.send(new DescribeVpcsCommand({}))).rejects.toMatchObject({ name: 'InvalidAction' });
});

it('throttles writes above the burst with RequestLimitExceeded, per region and separately from reads', async () => {
  const strict = await startSimulator({ writeBurst: 2, writeRefillPerSecond: 1, readBurst: 5 });
  const here = connect(strict.url, 'eu-west-1');
  const there = connect(strict.url, 'eu-west-2');
  await write(here, '203.0.113.1/32');
  await write(here, '203.0.113.2/32');
  await expect(write(here, '203.0.113.3/32')).rejects.toMatchObject({
    name: 'RequestLimitExceeded',
    $metadata: { httpStatusCode: 503 },
  });
  await write(there, '203.0.113.4/32');
  const { SecurityGroupRules } = await here.send(new DescribeSecurityGroupRulesCommand({}));
  expect(SecurityGroupRules?.filter((rule) => !rule.IsEgress)).toHaveLength(3);
  here.destroy();
  there.destroy();
  await strict.close();
});
