import { simulatorDuringTests } from '../simulator.testing';

const PROJECT = 'prj_simulated1';
const TOKEN = 'simulated-vercel-token';
const CONFIG = '/v1/security/firewall/config';
const listed = (...value: string[]): object => ({ type: 'ip_address', op: 'inc', neg: true, value });
const rule = (changed: object = {}): Record<string, unknown> => ({
  name: 'drawbridge-x',
  description: 'drawbridge:x',
  active: true,
  conditionGroup: [{ conditions: [listed('203.0.113.7', '2001:db8::/48')] }],
  action: { mitigate: { action: 'deny', actionDuration: null } },
  ...changed,
});
const about = (...conditions: object[]): object => rule({ conditionGroup: [{ conditions }] });

interface Answer {
  readonly status: number;
  readonly body: {
    readonly error?: { readonly code: string };
    readonly rules?: readonly { readonly id: string }[];
  };
}

// that they do what the driver asks for: the conformance suite
describe('Simulated firewalls of Vercel', () => {
  const simulator = simulatorDuringTests();

  const ask = async (method: string, path: string, body?: object | string): Promise<Answer> => {
    const response = await fetch(`${simulator.url}/vercel${CONFIG}${path}?projectId=${PROJECT}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer['body'];
    return { status: response.status, body: answer };
  };
  const read = (): Promise<Answer> => ask('GET', '/active');
  const change = (action: string, id: string | null, value: unknown): Promise<Answer> =>
    ask('PATCH', '', { action, id, value });
  const insert = async (value: object = rule()): Promise<string> => {
    expect(await change('rules.insert', null, value)).toMatchObject({ status: 200 });
    return (await read()).body.rules!.at(-1)!.id;
  };
  const listOpen = async (): Promise<string[]> =>
    (await simulator.openRules(`provider=VERCEL&target=${PROJECT}`))
      .map(({ address, protocol, fromPort, ours }) => `${address} ${protocol} ${fromPort} ${ours}`)
      .sort();
  const LISTED = ['2001:db8::/48 all null true', '203.0.113.7 all null true'];
  const EVERYBODY = ['0.0.0.0/0 all null false', '::/0 all null false'];

  it('allow the exceptions of a deny rule, and everybody once no rule denies', async () => {
    const id = await insert();
    await change('rules.update', id, about({ type: 'path', op: 'pre', value: '/' }));
    expect(await listOpen()).toEqual([]);
    await change('rules.update', id, rule({ active: false }));
    expect(await listOpen()).toEqual(EVERYBODY);
    await change('rules.update', id, rule());
    expect(await listOpen()).toEqual(LISTED);
    await change('firewallEnabled', null, false);
    expect(await listOpen()).toEqual(EVERYBODY);
    await change('firewallEnabled', null, true);
    expect(await listOpen()).toEqual(LISTED);
    await change('rules.remove', id, null);
    expect(await listOpen()).toEqual(EVERYBODY);
  });

  it('allow only exceptions of every deny rule for the same requests', async () => {
    await insert();
    await insert(about(listed('203.0.113.7', '203.0.113.8')));
    expect(await listOpen()).toEqual(['203.0.113.7 all null true']);
    await insert(about({ type: 'host', op: 'eq', value: 'a.example' }, listed('203.0.113.9')));
    expect(await listOpen()).toEqual(['203.0.113.7 all null true', '203.0.113.9 all null true']);
  });

  const many = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `203.0.${Math.floor(index / 200)}.${index % 200}`);

  it.each<[string, unknown]>([
    ['no name', rule({ name: undefined })],
    ['a long name', rule({ name: 'x'.repeat(161) })],
    ['a long description', rule({ description: 'x'.repeat(257) })],
    ['no active field', rule({ active: undefined })],
    ['a field of its own', rule({ owner: 'me' })],
    ['no groups', rule({ conditionGroup: [] })],
    [
      '26 groups',
      rule({ conditionGroup: Array.from({ length: 26 }, () => ({ conditions: [listed('203.0.113.7')] })) }),
    ],
    ['no conditions', about()],
    ['66 conditions', about(...Array<object>(66).fill(listed('203.0.113.7')))],
    ['an empty list', about(listed())],
    ['76 values', about(listed(...many(76)))],
    ['another type', about({ type: 'ip', op: 'eq', value: '203.0.113.7' })],
    ['a type in capitals', about({ type: 'IP_ADDRESS', op: 'eq', value: '203.0.113.7' })],
    ['another operator', about({ type: 'ip_address', op: 'in', value: '203.0.113.7' })],
    ['no address', about(listed('example.com'))],
    ['an address with a long prefix', about(listed('203.0.113.7/33'))],
    ['a condition with a field of its own', about({ type: 'path', op: 'pre', value: '/', not: true })],
    ['another action', rule({ action: { mitigate: { action: 'drop' } } })],
    ['no action', rule({ action: undefined })],
    ['no rule', null],
  ])('refuse a rule with %s', async (_, value) => {
    expect(await change('rules.insert', null, value)).toMatchObject({
      status: 400,
      body: { error: { code: 'bad_request' } },
    });
    expect(await read()).toMatchObject({ status: 404 });
  });

  it.each<[string, string]>([
    ['no JSON', '{'],
    ['another action', JSON.stringify({ action: 'rules.replace', value: rule() })],
    ['no id', JSON.stringify({ action: 'rules.update', value: rule() })],
    ['a field of its own', JSON.stringify({ action: 'rules.insert', value: rule(), force: true })],
  ])('refuse a change that is %s', async (_, body) => {
    expect(await ask('PATCH', '', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'bad_request' } },
    });
  });

  it('throttle more than a hundred writes at once', async () => {
    const answers = await Promise.all(Array.from({ length: 160 }, () => change('rules.remove', 'x', null)));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
  });
});
