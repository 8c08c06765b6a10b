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
import { simulatorDuringTests } from '../simulator.testing';
import { ec2ClientOf } from './aws.testing';

const LIST = 'pl-0123456789abcdef0';
const LIST_OF_AWS = 'pl-6da54004';
const MISSING_LIST = 'pl-0fedcba9876543210';

const cidrs = (...texts: string[]): AddPrefixListEntry[] => texts.map((Cidr) => ({ Cidr }));

const hosts = (count: number): AddPrefixListEntry[] =>
  cidrs(...Array.from({ length: count }, (_, index) => `203.0.113.${index}/32`));

describe('Simulated managed prefix lists', () => {
  const simulator = simulatorDuringTests({
    writeBurst: 100_000,
    readBurst: 100_000,
    entriesPerList: 120,
  });
  let ec2: EC2Client;
  beforeAll(() => {
    ec2 = ec2ClientOf(simulator.url);
  });

  const described = async (): Promise<ManagedPrefixList> => {
    const answer = await ec2.send(new DescribeManagedPrefixListsCommand({ PrefixListIds: [LIST] }));
    return answer.PrefixLists![0]!;
  };
  /** undefined: the answer has no set of entries */
  const entries = async (): Promise<PrefixListEntry[] | undefined> =>
    (await ec2.send(new GetManagedPrefixListEntriesCommand({ PrefixListId: LIST }))).Entries;
  const ask = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<ManagedPrefixList> => {
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: LIST,
      CurrentVersion: (await described()).Version!,
      ...input,
    });
    return (await ec2.send(command)).PrefixList!;
  };
  /** Requests a change and waits until it is applied. */
  const change = async (input: Partial<ModifyManagedPrefixListCommandInput>): Promise<void> => {
    await ask(input);
    while ((await described()).State === 'modify-in-progress');
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
    expect(await described()).toMatchObject({ Version: 2, State: 'modify-complete' });
    expect(await entries()).toHaveLength(30);
  });
});
