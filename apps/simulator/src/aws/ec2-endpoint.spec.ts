import {
  type AddPrefixListEntry,
  AuthorizeSecurityGroupIngressCommand,
  type AuthorizeSecurityGroupIngressCommandInput,
  DescribeManagedPrefixListsCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  DescribeVpcsCommand,
  type EC2Client,
  GetManagedPrefixListEntriesCommand,
  type IpPermission,
  type ManagedPrefixList,
  ModifyManagedPrefixListCommand,
  type ModifyManagedPrefixListCommandInput,
  type PrefixListEntry,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { simulatorDuringTests } from '../simulator.testing';
import { startSimulator } from '../start-simulator';
import { ec2ClientOf } from './aws.testing';

// that EC2 does what the driver asks for: the conformance suite

const GROUP = 'sg-0123456789abcdef0';

const simulator = simulatorDuringTests({ writeBurst: 100_000, readBurst: 100_000, entriesPerList: 120 });
let ec2: EC2Client;

beforeAll(() => {
  ec2 = ec2ClientOf(simulator.url);
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

const inbound = async (): Promise<SecurityGroupRule[]> => {
  const command = new DescribeSecurityGroupRulesCommand({
    Filters: [{ Name: 'group-id', Values: [GROUP] }],
  });
  return ((await ec2.send(command)).SecurityGroupRules ?? []).filter((rule) => !rule.IsEgress);
};

const revoke = async (input: { SecurityGroupRuleIds?: string[]; IpPermissions?: IpPermission[] }) =>
  ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId: GROUP, ...input }));

const write = async (client: EC2Client, cidr: string) =>
  client.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: GROUP, IpPermissions: [tcp(22, cidr)] }));

describe('AuthorizeSecurityGroupIngress', () => {
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
});

describe('RevokeSecurityGroupIngress', () => {
  it('removes nothing when one of the rules does not exist', async () => {
    const [rule] = await authorize([tcp(22, '203.0.113.1/32')]);
    await expect(
      revoke({ IpPermissions: [tcp(22, '203.0.113.1/32', '203.0.113.2/32')] }),
    ).rejects.toMatchObject({ name: 'InvalidPermission.NotFound' });
    await expect(
      revoke({ SecurityGroupRuleIds: [rule!.SecurityGroupRuleId!, 'sgr-00000000000000000'] }),
    ).rejects.toMatchObject({ name: 'InvalidSecurityGroupRuleId.NotFound' });
    await expect(revoke({ SecurityGroupRuleIds: ['sgr-x'] })).rejects.toMatchObject({
      name: 'InvalidSecurityGroupRuleId.Malformed',
    });
    await expect(revoke({})).rejects.toMatchObject({ name: 'MissingParameter' });
    expect(await inbound()).toHaveLength(1);
  });
});

it('has the configured number of groups, with ids that count up in hexadecimal', async () => {
  const large = await startSimulator({ groups: 200 });
  const { SecurityGroups = [] } = await ec2ClientOf(large.url).send(new DescribeSecurityGroupsCommand({}));
  await large.close();
  const ids = SecurityGroups.map(({ GroupId }) => GroupId);
  expect(new Set(ids).size).toBe(200);
  expect(ids.slice(15, 17)).toEqual(['sg-0123456789abcdeff', 'sg-0123456789abcdf00']);
});

it('answers InvalidAction to an action that is not simulated', async () => {
  await expect(ec2.send(new DescribeVpcsCommand({}))).rejects.toMatchObject({ name: 'InvalidAction' });
});

it('throttles writes above the burst with RequestLimitExceeded, per region and separately from reads', async () => {
  const strict = await startSimulator({ writeBurst: 2, writeRefillPerSecond: 1, readBurst: 5 });
  const here = ec2ClientOf(strict.url, 'eu-west-1');
  const there = ec2ClientOf(strict.url, 'eu-west-2');
  await write(here, '203.0.113.1/32');
  await write(here, '203.0.113.2/32');
  await expect(write(here, '203.0.113.3/32')).rejects.toMatchObject({
    name: 'RequestLimitExceeded',
    $metadata: { httpStatusCode: 503 },
  });
  await write(there, '203.0.113.4/32');
  const { SecurityGroupRules } = await here.send(new DescribeSecurityGroupRulesCommand({}));
  expect(SecurityGroupRules?.filter((rule) => !rule.IsEgress)).toHaveLength(3);
  await strict.close();
});

const LIST = 'pl-0123456789abcdef0';
const LIST_OF_AWS = 'pl-6da54004';
const MISSING_LIST = 'pl-0fedcba9876543210';

const cidrs = (...texts: string[]): AddPrefixListEntry[] => texts.map((Cidr) => ({ Cidr }));

const hosts = (count: number): AddPrefixListEntry[] =>
  cidrs(...Array.from({ length: count }, (_, index) => `203.0.113.${index}/32`));

describe('Simulated managed prefix lists', () => {
  const describeList = async (): Promise<ManagedPrefixList> => {
    const answer = await ec2.send(new DescribeManagedPrefixListsCommand({ PrefixListIds: [LIST] }));
    return answer.PrefixLists![0]!;
  };
  /** undefined: the answer has no set of entries */
  const entries = async (): Promise<PrefixListEntry[] | undefined> =>
    (await ec2.send(new GetManagedPrefixListEntriesCommand({ PrefixListId: LIST }))).Entries;
  const ask = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<ManagedPrefixList> => {
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: LIST,
      CurrentVersion: (await describeList()).Version!,
      ...input,
    });
    return (await ec2.send(command)).PrefixList!;
  };
  /** Requests a change and waits until it is applied. */
  const change = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<void> => {
    await ask(input);
    while ((await describeList()).State === 'modify-in-progress');
  };
  it('are answered without an entry set when they are empty, as EC2 does', async () => {
    // an empty set would be read as an empty list
    expect(await entries()).toBeUndefined();
    await change({ AddEntries: hosts(1) });
    expect(await entries()).toHaveLength(1);
  });

  it('replace the description of an existing entry', async () => {
    await change({ AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'one' }] });
    await change({ AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'two' }] });
    expect(await entries()).toEqual([{ Cidr: '203.0.113.1/32', Description: 'two' }]);
  });

  it.each<[string, string, Partial<ModifyManagedPrefixListCommandInput>]>([
    ['PrefixListVersionMismatch', 'of an earlier version', { CurrentVersion: 1 }],
    ['PrefixListVersionMismatch', 'of a future version', { CurrentVersion: 9 }],
    ['InvalidPrefixListID.NotFound', 'of an unknown list', { PrefixListId: MISSING_LIST }],
    ['InvalidPrefixListId.Malformed', 'of a malformed id', { PrefixListId: 'pl-1' }],
    ['UnsupportedOperation', 'of a list of AWS', { PrefixListId: LIST_OF_AWS }],
    ['MissingParameter', 'of no version', { CurrentVersion: undefined }],
    ['MissingParameter', 'of nothing', { AddEntries: [] }],
    ['PrefixListMaxEntriesExceeded', 'to more than the maximum', { AddEntries: hosts(100).slice(1) }],
    [
      'InvalidPrefixListModification',
      'that adds an existing entry',
      { AddEntries: cidrs('198.51.100.0/32') },
    ],
    ['InvalidPrefixListModification', 'that removes an absent entry', { RemoveEntries: hosts(2).slice(1) }],
    ['InvalidParameterValue', 'of 101 entries', { AddEntries: hosts(101) }],
    ['InvalidParameterValue', 'of 60 and 41 entries', { AddEntries: hosts(60), RemoveEntries: hosts(41) }],
    [
      'InvalidParameterValue',
      'that names an address twice',
      { AddEntries: cidrs('10.1.0.0/8', '10.0.0.0/8') },
    ],
    ['InvalidParameterValue', 'of the other IP version', { AddEntries: cidrs('2001:db8::/64') }],
    ['InvalidParameterValue', 'of no CIDR', { AddEntries: cidrs('203.0.113.1') }],
    [
      'InvalidParameterValue',
      'with a description of another character set',
      { AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'a|b' }] },
    ],
    [
      'InvalidParameterValue',
      'with a description of 256 characters',
      { AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'a'.repeat(256) }] },
    ],
  ])('refuse with %s a change %s, without an effect', async (name, _, input) => {
    await change({
      AddEntries: cidrs(...Array.from({ length: 30 }, (_item, index) => `198.51.100.${index}/32`)),
    });
    await expect(ask({ AddEntries: hosts(1), ...input })).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: 400 },
    });
    expect(await describeList()).toMatchObject({ Version: 2, State: 'modify-complete' });
    expect(await entries()).toHaveLength(30);
  });
});
