import { Readable } from 'node:stream';
import { EC2Client } from '@aws-sdk/client-ec2';
import { HttpResponse } from '@smithy/protocol-http';
import { DriverError } from '../driver-error';
import { accessBy } from './ec2-clients';
import { PrefixList } from './prefix-list';
import { SdkSettings } from './sdk-settings';

const LIST = 'pl-0123456789abcdef0';
const KEYS = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'example-secret' };

type Reply = string | { readonly status: number; readonly body: string };

const reply = (operation: string, content: string): string =>
  `<${operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${content}</${operation}Response>`;

const refusal = (code: string, status = 400): Reply => ({
  status,
  body: `<Response><Errors><Error><Code>${code}</Code><Message>no</Message></Error></Errors></Response>`,
});

const FACTS = {
  prefixListId: LIST,
  addressFamily: 'IPv4',
  state: 'modify-complete',
  maxEntries: '10',
  version: '3',
  ownerId: '123456789012',
};

/** @param changed undefined: left out */
const shown = (changed: Readonly<Record<string, string | undefined>> = {}): string => {
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

/** A list of an EC2 that gives these answers, one after the other, and then the last one again and again. */
function listWithin(patienceMs: number, ...replies: Reply[]): { list: PrefixList; sent: URLSearchParams[] } {
  const sent: URLSearchParams[] = [];
  const settings = new SdkSettings({}, patienceMs);
  const client = new EC2Client({
    ...settings.for('AWS_ENDPOINT_URL_EC2', 'eu-west-1', KEYS),
    requestHandler: {
      handle: ({ body }: { body: string }) => {
        sent.push(new URLSearchParams(body));
        const next = (replies.length > 1 ? replies.shift() : replies[0]) ?? '';
        const { status, body: text } = typeof next === 'string' ? { status: 200, body: next } : next;
        const response = new HttpResponse({
          statusCode: status,
          headers: {},
          body: Readable.from([Buffer.from(text)]),
        });
        return Promise.resolve({ response });
      },
    },
  });
  return { list: new PrefixList(LIST, accessBy(client, { secretAccessKey: '' }), settings), sent };
}

const listAnswering = (...replies: Reply[]) => listWithin(20_000, ...replies);

const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.then(
    () => new Error('It succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw error;
};

describe('what a prefix list says of itself', () => {
  it.each([
    ['create-complete', { isChanging: false, failure: null }],
    ['modify-complete', { isChanging: false, failure: null }],
    ['restore-complete', { isChanging: false, failure: null }],
    ['restore-failed', { isChanging: false, failure: null }],
    ['delete-failed', { isChanging: false, failure: null }],
    ['create-in-progress', { isChanging: true, failure: null }],
    ['modify-in-progress', { isChanging: true, failure: null }],
    ['restore-in-progress', { isChanging: true, failure: null }],
  ])('is read: %s', async (state, expected) => {
    const facts = await listAnswering(shown({ state })).list.describe();
    expect(facts).toEqual({ version: 3, maxEntries: 10, family: 'IPv4', ...expected });
  });

  it('is read: modify-failed, with EC2’s words', async () => {
    const { list } = listAnswering(shown({ state: 'modify-failed', stateMessage: 'quota exceeded' }));
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
  ])('in the state %p is %s', async (state, kind) => {
    expect((await thrown(listAnswering(shown({ state })).list.describe())).kind).toBe(kind);
  });

  it.each([
    ['another list', shown({ prefixListId: 'pl-0fedcba9876543210' })],
    ['no list', reply('DescribeManagedPrefixLists', '<prefixListSet/>')],
    ['nothing', reply('DescribeManagedPrefixLists', '')],
    ['no version', shown({ version: undefined })],
    ['no size', shown({ maxEntries: undefined })],
    ['no address family', shown({ addressFamily: undefined })],
    ['an address family to come', shown({ addressFamily: 'IPv8' })],
    ['half of it', shown().slice(0, -40)],
    ['an HTML page', '<html><body>maintenance</body></html>'],
    ['an error that calls itself a success', refusal('InternalError', 200)],
  ] as const)('tells nothing when it is %s', async (_, answer) => {
    expect((await thrown(listAnswering(answer).list.describe())).kind).toBe('transient');
  });

  it('is refused where others keep it: AWS, or an IPAM resolver', async () => {
    const ofAws = shown({ ownerId: 'AWS', version: undefined, prefixListName: 'com.amazonaws.s3' });
    const resolved = shown({ ipamPrefixListResolverSyncEnabled: 'true' });
    expect(await thrown(listAnswering(ofAws).list.describe())).toMatchObject({ kind: 'invalid' });
    expect(await thrown(listAnswering(resolved).list.describe())).toMatchObject({ kind: 'invalid' });
  });
});

describe('the entries of a version', () => {
  it('are read page after page, all of the one version', async () => {
    const { list, sent } = listAnswering(page([cidr('203.0.113.1/32')], 'more'), page([cidr('10.0.0.0/8')]));
    expect((await list.entries(7)).map((entry) => entry.cidr)).toEqual(['203.0.113.1/32', '10.0.0.0/8']);
    expect(sent.map((form) => [form.get('TargetVersion'), form.get('NextToken')])).toEqual([
      ['7', null],
      ['7', 'more'],
    ]);
  });

  it('are read on after an empty page that names a next one', async () => {
    const { list } = listAnswering(page([], 'more'), page([cidr('10.0.0.0/8')]));
    expect((await list.entries(7)).map((entry) => entry.cidr)).toEqual(['10.0.0.0/8']);
  });

  it.each([
    ['no list of entries', reply('GetManagedPrefixListEntries', '')],
    ['an entry without an address', page(['<description>x</description>'])],
    ['pages that lead nowhere', page([cidr('203.0.113.1/32')], 'same')],
  ])('are not believed when they are %s', async (_, answer) => {
    expect((await thrown(listAnswering(answer).list.entries(7))).kind).toBe('transient');
  });

  it('may be none', async () => {
    expect(await listAnswering(page([])).list.entries(7)).toEqual([]);
  });
});

describe('a change of a version', () => {
  const accepted = reply(
    'ModifyManagedPrefixList',
    `<prefixList><prefixListId>${LIST}</prefixListId></prefixList>`,
  );

  it('names the version, and what leaves and enters', async () => {
    const { list, sent } = listAnswering(accepted);
    await list.modify(3, {
      add: [{ Cidr: '203.0.113.1/32', Description: 'mark' }],
      remove: [{ Cidr: '203.0.113.2/32' }],
    });
    expect(Object.fromEntries(sent[0]!)).toMatchObject({
      PrefixListId: LIST,
      CurrentVersion: '3',
      'AddEntry.1.Cidr': '203.0.113.1/32',
      'AddEntry.1.Description': 'mark',
      'RemoveEntry.1.Cidr': '203.0.113.2/32',
    });
  });

  it.each([
    ['about another list', accepted.replace(LIST, 'pl-0fedcba9876543210')],
    ['about none', reply('ModifyManagedPrefixList', '')],
    ['cut short', accepted.slice(0, -50)],
  ])('is unknown when the answer is %s', async (_, answer) => {
    const error = await thrown(listAnswering(answer).list.modify(3, { add: [], remove: [] }));
    expect(error).toMatchObject({ kind: 'transient', settled: false });
  });

  it('is over when the list has the next version and nothing is under way', async () => {
    const { list, sent } = listAnswering(
      shown({ state: 'modify-complete' }),
      shown({ state: 'modify-in-progress' }),
      shown({ state: 'modify-in-progress', version: '4' }),
      shown({ version: '4' }),
    );
    await list.whenChanged(3);
    expect(sent).toHaveLength(4);
  });

  it.each([
    ['is still under way', shown({ state: 'modify-in-progress' }), `${LIST} is still being changed`],
    ['failed', shown({ state: 'modify-failed', stateMessage: 'quota' }), 'modify-failed: quota'],
    ['cannot be seen', refusal('UnauthorizedOperation', 403), 'UnauthorizedOperation: no'],
  ])('is unknown when it %s', async (_, answer, message) => {
    const error = await thrown(listWithin(300, answer).list.whenChanged(3));
    expect(error).toMatchObject({ kind: 'transient', settled: false, message });
  });
});

describe('whether the entries may be changed', () => {
  const facts = { version: 3, maxEntries: 10, family: 'IPv6', isChanging: false, failure: null } as const;

  it.each(['DryRunOperation', 'IncorrectState', 'PrefixListVersionMismatch', 'PrefixListMaxEntriesExceeded'])(
    'is answered with yes by %s',
    async (code) => {
      const { list, sent } = listAnswering(refusal(code, 412));
      await list.mayChange(facts);
      expect(Object.fromEntries(sent[0]!)).toMatchObject({
        DryRun: 'true',
        'AddEntry.1.Cidr': '2001:db8::1/128',
      });
    },
  );

  it('is answered with no by a refusal of the permission', async () => {
    const { list } = listAnswering(refusal('UnauthorizedOperation', 403));
    expect((await thrown(list.mayChange(facts))).kind).toBe('denied');
  });
});
