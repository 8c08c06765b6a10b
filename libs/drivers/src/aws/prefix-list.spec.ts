import { EC2Client } from '@aws-sdk/client-ec2';
import { duringTests, thrown } from '../scripted-server.testing';
import { formOf, refusal, reply, ScriptedEndpoint, type Script } from './aws.driver.testing';
import { accessWith } from './ec2-clients';
import { PrefixList } from './prefix-list';
import { SdkSettings } from './sdk-settings';

const LIST = 'pl-0123456789abcdef0';
const KEYS = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'example-secret' };

const FACTS = {
  prefixListId: LIST,
  addressFamily: 'IPv4',
  state: 'modify-complete',
  maxEntries: '10',
  version: '3',
  ownerId: '123456789012',
};

/** @param changed undefined: the field is omitted */
const described = (changed: Readonly<Record<string, string | undefined>> = {}): string => {
  const fields = Object.entries<string | undefined>({ ...FACTS, ...changed })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<${name}>${value}</${name}>`);
  return reply(
    'DescribeManagedPrefixLists',
    `<prefixListSet><item>${fields.join('')}</item></prefixListSet>`,
  );
};

const page = (entries: readonly string[], next = ''): string =>
  reply(
    'GetManagedPrefixListEntries',
    `<entrySet>${entries.map((entry) => `<item>${entry}</item>`).join('')}</entrySet>` +
      (next && `<nextToken>${next}</nextToken>`),
  );

const cidr = (text: string): string => `<cidr>${text}</cidr>`;

const endpoint = duringTests(new ScriptedEndpoint());

/** A list behind an EC2 that gives these replies in order and repeats the last one. */
function listWithin(timeoutMs: number, ...replies: Script[]): PrefixList {
  endpoint.repeat(...replies);
  const settings = new SdkSettings({ AWS_ENDPOINT_URL_EC2: endpoint.url }, timeoutMs);
  const client = new EC2Client(settings.clientConfig('AWS_ENDPOINT_URL_EC2', 'eu-west-1', KEYS));
  return new PrefixList(LIST, accessWith(client, { secretAccessKey: '' }), settings);
}

const listReplying = (...replies: Script[]): PrefixList => listWithin(20_000, ...replies);

describe('The facts of a prefix list', () => {
  it.each([
    ['create-complete', { isChanging: false, failure: null }],
    ['modify-complete', { isChanging: false, failure: null }],
    ['restore-complete', { isChanging: false, failure: null }],
    ['restore-failed', { isChanging: false, failure: null }],
    ['delete-failed', { isChanging: false, failure: null }],
    ['create-in-progress', { isChanging: true, failure: null }],
    ['modify-in-progress', { isChanging: true, failure: null }],
    ['restore-in-progress', { isChanging: true, failure: null }],
  ])('are read in state %s', async (state, expected) => {
    const facts = await listReplying(described({ state })).describe();
    expect(facts).toEqual({ version: 3, maxEntries: 10, family: 'IPv4', ...expected });
  });

  it('contain EC2’s message in state modify-failed', async () => {
    const list = listReplying(described({ state: 'modify-failed', stateMessage: 'quota exceeded' }));
    expect(await list.describe()).toMatchObject({
      isChanging: false,
      failure: 'modify-failed: quota exceeded',
    });
  });

  it.each([
    ['delete-in-progress', 'target-missing'],
    ['delete-complete', 'target-missing'],
    ['create-failed', 'target-missing'],
    ['a-new-state', 'transient'],
    ['', 'transient'],
  ])('are not available in state %p: %s', async (state, kind) => {
    expect((await thrown(listReplying(described({ state })).describe())).kind).toBe(kind);
  });

  it.each([
    ['another list', described({ prefixListId: 'pl-0fedcba9876543210' })],
    ['no list', reply('DescribeManagedPrefixLists', '<prefixListSet/>')],
    ['an empty response', reply('DescribeManagedPrefixLists', '')],
    ['no version', described({ version: undefined })],
    ['no maximum number of entries', described({ maxEntries: undefined })],
    ['no address family', described({ addressFamily: undefined })],
    ['an unknown address family', described({ addressFamily: 'IPv8' })],
  ] as const)('are not read from %s: transient failure', async (_, answer) => {
    expect((await thrown(listReplying(answer).describe())).kind).toBe('transient');
  });

  it('are refused for a list that is managed by AWS or an IPAM resolver', async () => {
    const ofAws = described({ ownerId: 'AWS', version: undefined, prefixListName: 'com.amazonaws.s3' });
    const resolved = described({ ipamPrefixListResolverSyncEnabled: 'true' });
    expect(await thrown(listReplying(ofAws).describe())).toMatchObject({ kind: 'invalid' });
    expect(await thrown(listReplying(resolved).describe())).toMatchObject({ kind: 'invalid' });
  });
});

describe('The entries of a prefix list version', () => {
  it('are read after an empty page with a next token', async () => {
    const list = listReplying(page([], 'more'), page([cidr('10.0.0.0/8')]));
    expect((await list.entries(7)).map((entry) => entry.cidr)).toEqual(['10.0.0.0/8']);
  });

  it.each([
    ['no list of entries', reply('GetManagedPrefixListEntries', '')],
    ['another response', reply('DescribeManagedPrefixLists', '<requestId>1-2</requestId>')],
    ['a cut response', reply('GetManagedPrefixListEntries', '<requestId>1-2</requestId>').slice(0, -1)],
    ['an entry without an address', page(['<description>x</description>'])],
    ['a repeated page token', page([cidr('203.0.113.1/32')], 'same')],
  ])('are not read from %s: transient failure', async (_, answer) => {
    expect((await thrown(listReplying(answer).entries(7))).kind).toBe('transient');
  });

  it.each([
    ['with a declaration', '<?xml version="1.0" encoding="UTF-8"?>\n', ''],
    ['before another page', '', '<nextToken>more</nextToken>'],
  ])('may be left out by EC2 when there are none: %s', async (_, declaration, next) => {
    const none = declaration + reply('GetManagedPrefixListEntries', `<requestId>1-2</requestId>${next}`);
    const answers = next === '' ? [none] : [none, page([])];
    expect(await listReplying(...answers).entries(7)).toEqual([]);
  });
});

describe('A change of a prefix list version', () => {
  const accepted = reply(
    'ModifyManagedPrefixList',
    `<prefixList><prefixListId>${LIST}</prefixListId></prefixList>`,
  );

  it.each([
    ['for another list', accepted.replace(LIST, 'pl-0fedcba9876543210')],
    ['for no list', reply('ModifyManagedPrefixList', '')],
    ['truncated', accepted.slice(0, -50)],
  ])('has an unknown outcome when the response is %s', async (_, answer) => {
    const error = await thrown(listReplying(answer).modify(3, { add: [], remove: [] }));
    expect(error).toMatchObject({ kind: 'transient', settled: false });
  });

  it('is complete when the list has the next version and no change is in progress', async () => {
    const list = listReplying(
      described({ state: 'modify-complete' }),
      described({ state: 'modify-in-progress' }),
      described({ state: 'modify-in-progress', version: '4' }),
      described({ version: '4' }),
    );
    await list.waitUntilChanged(3);
    expect(endpoint.calls).toHaveLength(4);
  });

  it.each([
    ['is still in progress', described({ state: 'modify-in-progress' }), `${LIST} is still being changed`],
    ['failed', described({ state: 'modify-failed', stateMessage: 'quota' }), 'modify-failed: quota'],
    ['cannot be read', refusal(403, 'UnauthorizedOperation'), 'UnauthorizedOperation: no'],
  ])('has an unknown outcome when it %s', async (_, answer, message) => {
    const error = await thrown(listWithin(300, answer).waitUntilChanged(3));
    expect(error).toMatchObject({ kind: 'transient', settled: false, message });
  });
});

describe('The write permission check of a prefix list', () => {
  const facts = { version: 3, maxEntries: 10, family: 'IPv6', isChanging: false, failure: null } as const;

  it.each(['DryRunOperation', 'IncorrectState', 'PrefixListVersionMismatch', 'PrefixListMaxEntriesExceeded'])(
    'passes on %s',
    async (code) => {
      const list = listReplying(refusal(412, code));
      await list.requireWritePermission(facts);
      expect(Object.fromEntries(formOf(endpoint.calls[0]!))).toMatchObject({
        DryRun: 'true',
        'AddEntry.1.Cidr': '2001:db8::1/128',
      });
    },
  );
});
