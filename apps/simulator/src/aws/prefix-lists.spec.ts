import {
  DescribeManagedPrefixListsCommand,
  EC2Client,
  GetManagedPrefixListEntriesCommand,
  ModifyManagedPrefixListCommand,
  type AddPrefixListEntry,
  type ManagedPrefixList,
  type ModifyManagedPrefixListCommandInput,
  type PrefixListEntry,
} from '@aws-sdk/client-ec2';
import { startSimulator, type RunningSimulator } from '../start-simulator';

const LIST = 'pl-0123456789abcdef0';
const IPV6_LIST = 'pl-0123456789abcdef5';
const LIST_OF_AWS = 'pl-6da54004';
const MISSING_LIST = 'pl-0fedcba9876543210';

const connect = (url: string): EC2Client =>
  new EC2Client({
    region: 'eu-west-1',
    endpoint: `${url}/aws/ec2`,
    maxAttempts: 1,
    credentials: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' },
  });

const cidrs = (...texts: string[]): AddPrefixListEntry[] => texts.map((Cidr) => ({ Cidr }));

const hosts = (count: number): AddPrefixListEntry[] =>
  cidrs(...Array.from({ length: count }, (_, index) => `203.0.113.${index}/32`));

describe('Simulated managed prefix lists', () => {
  let simulator: RunningSimulator;
  let ec2: EC2Client;

  beforeAll(async () => {
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
    simulator = await startSimulator({ writeBurst: 100_000, readBurst: 100_000, entriesPerList: 120 });
    ec2 = connect(simulator.url);
  });
  beforeEach(() => fetch(`${simulator.url}/_reset`, { method: 'POST' }));
  afterAll(async () => {
    ec2.destroy();
    await simulator.close();
  });

  const described = async (listId = LIST): Promise<ManagedPrefixList> => {
    const answer = await ec2.send(new DescribeManagedPrefixListsCommand({ PrefixListIds: [listId] }));
    return answer.PrefixLists![0]!;
  };
  const entries = async (listId = LIST, version?: number): Promise<PrefixListEntry[]> => {
    const command = new GetManagedPrefixListEntriesCommand({
      PrefixListId: listId,
      ...(version !== undefined && { TargetVersion: version }),
    });
    return (await ec2.send(command)).Entries ?? [];
  };
  const ask = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<ManagedPrefixList> => {
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: LIST,
      CurrentVersion: (await described()).Version!,
      ...input,
    });
    return (await ec2.send(command)).PrefixList!;
  };
  /** Requests a change and waits until it is applied. */
  const change = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<ManagedPrefixList> => {
    await ask(input);
    for (;;) {
      const list = await described(input.PrefixListId);
      if (list.State !== 'modify-in-progress') return list;
    }
  };
  const addresses = async (): Promise<string[]> => {
    const response = await fetch(`${simulator.url}/_rules?provider=AWS&target=${LIST}`);
    return ((await response.json()) as { address: string }[]).map(({ address }) => address);
  };

  it('are described with version, size, address family and owner', async () => {
    expect(await described()).toMatchObject({
      PrefixListId: LIST,
      AddressFamily: 'IPv4',
      State: 'create-complete',
      MaxEntries: 120,
      Version: 1,
      OwnerId: expect.stringMatching(/^\d{12}$/) as unknown,
    });
    expect(await described(IPV6_LIST)).toMatchObject({ AddressFamily: 'IPv6' });
    const ofAws = await described(LIST_OF_AWS);
    expect(ofAws).toMatchObject({ OwnerId: 'AWS' });
    expect(ofAws.Version).toBeUndefined();
  });

  it('are answered without an entry set when they are empty, as EC2 does', async () => {
    const read = new GetManagedPrefixListEntriesCommand({ PrefixListId: LIST });
    // an empty set would be read as an empty list
    expect((await ec2.send(read)).Entries).toBeUndefined();
    await change({ AddEntries: hosts(1) });
    expect((await ec2.send(read)).Entries).toHaveLength(1);
  });

  it('accept a change, apply it later, and refuse other changes meanwhile', async () => {
    const slow = await startSimulator({ listChangeMs: 600_000 });
    const usual = ec2;
    ec2 = connect(slow.url);
    try {
      expect(await ask({ AddEntries: hosts(1) })).toMatchObject({ State: 'modify-in-progress', Version: 1 });
      expect(await described()).toMatchObject({ State: 'modify-in-progress', Version: 1 });
      expect(await entries()).toEqual([]);
      await expect(ask({ AddEntries: hosts(1) })).rejects.toMatchObject({ name: 'IncorrectState' });
    } finally {
      ec2.destroy();
      ec2 = usual;
      await slow.close();
    }
  });

  it('create a version for each change, and keep earlier versions', async () => {
    const entry = { Cidr: '203.0.113.77/24', Description: 'drawbridge:test:a:never' };
    expect(await change({ AddEntries: [entry] })).toMatchObject({ State: 'modify-complete', Version: 2 });
    expect(await change({ AddEntries: hosts(1) })).toMatchObject({ Version: 3 });
    expect(await entries()).toEqual([{ ...entry, Cidr: '203.0.113.0/24' }, { Cidr: '203.0.113.0/32' }]);
    expect(await entries(LIST, 2)).toHaveLength(1);
    expect(await entries(LIST, 1)).toEqual([]);
  });

  it('replace the description of an existing entry', async () => {
    await change({ AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'one' }] });
    await change({ AddEntries: [{ Cidr: '203.0.113.1/32', Description: 'two' }] });
    expect(await entries()).toEqual([{ Cidr: '203.0.113.1/32', Description: 'two' }]);
  });

  it('remove and add in one change', async () => {
    await change({ AddEntries: hosts(2) });
    await change({ RemoveEntries: hosts(1), AddEntries: cidrs('198.51.100.1/32') });
    expect(await addresses()).toEqual(['203.0.113.1', '198.51.100.1']);
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
    expect(await described()).toMatchObject({ Version: 2, State: 'modify-complete' });
    expect(await entries()).toHaveLength(30);
  });

  it('change nothing in a dry run', async () => {
    await expect(ask({ AddEntries: hosts(1), DryRun: true })).rejects.toMatchObject({
      name: 'DryRunOperation',
    });
    expect(await described()).toMatchObject({ Version: 1, State: 'create-complete' });
  });

  it('return at most a hundred entries per page', async () => {
    await change({ AddEntries: hosts(100) });
    await change({ AddEntries: cidrs('198.51.100.1/32') });
    const page = (input: { MaxResults?: number; NextToken?: string }) =>
      ec2.send(new GetManagedPrefixListEntriesCommand({ PrefixListId: LIST, ...input }));
    const first = await page({});
    expect(first.Entries).toHaveLength(100);
    const last = await page({ NextToken: first.NextToken! });
    expect(last.Entries).toEqual([{ Cidr: '198.51.100.1/32' }]);
    expect(last.NextToken).toBeUndefined();
    await expect(page({ MaxResults: 101 })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  });
});
