import type { OpenRule } from '../ground-truth/ledger';
import { startSimulator, type RunningSimulator } from '../start-simulator';

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

interface Body {
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly invalidToken?: boolean;
    readonly limit?: { readonly resetMs: number; readonly total: number };
  };
  readonly rules?: readonly { readonly id: string; readonly name: string }[];
}
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

describe('Simulated firewalls of Vercel', () => {
  let simulator: RunningSimulator;

  beforeAll(async () => {
    simulator = await startSimulator();
  });
  beforeEach(() => control('POST', '/_reset'));
  afterAll(() => simulator.close());

  const control = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${simulator.url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const ask = async (
    method: string,
    path: string,
    body?: object | string,
    token: string | null = TOKEN,
  ): Promise<Answer> => {
    const response = await fetch(`${simulator.url}/vercel${path}`, {
      method,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  const read = (): Promise<Answer> => ask('GET', `${CONFIG}/active?projectId=${PROJECT}`);
  const change = (action: string, id: string | null, value: unknown): Promise<Answer> =>
    ask('PATCH', `${CONFIG}?projectId=${PROJECT}`, { action, id, value });
  const insert = async (value: object = rule()): Promise<string> => {
    expect(await change('rules.insert', null, value)).toMatchObject({ status: 200 });
    return (await read()).body.rules!.at(-1)!.id;
  };
  const open = async (): Promise<string[]> => {
    const response = await control('GET', `/_rules?provider=VERCEL&target=${PROJECT}`);
    return ((await response.json()) as OpenRule[])
      .map(({ address, protocol, fromPort, ours }) => `${address} ${protocol} ${fromPort} ${ours}`)
      .sort();
  };
  const LISTED = ['2001:db8::/48 all null true', '203.0.113.7 all null true'];
  const EVERYBODY = ['0.0.0.0/0 all null false', '::/0 all null false'];

  it.each([
    ['no token', '/v2/user', null, 403, 'forbidden', undefined],
    ['another token', '/v2/user', 'x', 403, 'forbidden', true],
    ['another team', `/v9/projects/${PROJECT}?teamId=team_x`, TOKEN, 403, 'forbidden', undefined],
    ['no such team', '/v2/teams/team_x', TOKEN, 404, 'not_found', undefined],
    ['no such project', '/v9/projects/prj_x', TOKEN, 404, 'not_found', undefined],
    ['no project', `${CONFIG}/active`, TOKEN, 404, 'not_found', undefined],
    ['no such endpoint', '/v1/nowhere', TOKEN, 404, 'not_found', undefined],
  ])('refuse %s with Vercel’s error body', async (_, path, token, status, code, invalidToken) => {
    const answer = await ask('GET', path, undefined, token);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, message: expect.any(String) as unknown });
    expect(answer.body.error!.invalidToken).toBe(invalidToken);
  });

  it('have no configuration until the first write', async () => {
    expect((await read()).body).toEqual({ error: { code: 'not_found', message: 'Config not found' } });
    expect(await ask('GET', `/v9/projects/${PROJECT}?teamId=team_simulated`)).toMatchObject({
      status: 200,
      body: { id: PROJECT },
    });
    await insert();
    expect((await read()).body).toMatchObject({
      firewallEnabled: true,
      rules: [{ ...rule(), valid: true }],
    });
    expect(await open()).toEqual(LISTED);
  });

  it('allow the exceptions of a deny rule, and everybody once no rule denies', async () => {
    const id = await insert();
    await change('rules.update', id, about({ type: 'path', op: 'pre', value: '/' }));
    expect(await open()).toEqual([]);
    await change('rules.update', id, rule({ active: false }));
    expect(await open()).toEqual(EVERYBODY);
    await change('rules.update', id, rule());
    expect(await open()).toEqual(LISTED);
    await change('firewallEnabled', null, false);
    expect(await open()).toEqual(EVERYBODY);
    await change('firewallEnabled', null, true);
    expect(await open()).toEqual(LISTED);
    await change('rules.remove', id, null);
    expect(await open()).toEqual(EVERYBODY);
  });

  it('allow only exceptions of every deny rule for the same requests', async () => {
    await insert();
    await insert(about(listed('203.0.113.7', '203.0.113.8')));
    expect(await open()).toEqual(['203.0.113.7 all null true']);
    await insert(about({ type: 'host', op: 'eq', value: 'a.example' }, listed('203.0.113.9')));
    expect(await open()).toEqual(['203.0.113.7 all null true', '203.0.113.9 all null true']);
  });

  it('keep the order of their rules', async () => {
    for (const name of ['a', 'b', 'c']) await insert(rule({ name }));
    const names = async (): Promise<string[]> => (await read()).body.rules!.map((shown) => shown.name);
    const last = (await read()).body.rules!.at(-1)!.id;
    await change('rules.priority', last, 0);
    expect(await names()).toEqual(['c', 'a', 'b']);
    expect(await change('rules.priority', last, 3)).toMatchObject({ status: 400 });
    expect(await change('rules.remove', 'rule_x', null)).toMatchObject({ status: 404 });
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
    const answer = await ask('PATCH', `${CONFIG}?projectId=${PROJECT}`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } });
  });

  it('accept 75 values in each of 65 conditions, and the plan’s number of rules', async () => {
    const chunk = listed(...many(75));
    await insert(about(...Array<object>(65).fill(chunk)));
    for (let count = 1; count < 40; count += 1) await insert();
    expect(await change('rules.insert', null, rule())).toMatchObject({
      status: 400,
      body: { error: { code: 'limit_exceeded' } },
    });
  });

  it('state the delay before a retry when they throttle', async () => {
    await control('POST', '/_faults', { provider: 'VERCEL', kind: 'throttle', count: 1 });
    const answer = await change('rules.insert', null, rule());
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(Number(answer.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000 - 5);
    expect(answer.body.error!.limit).toMatchObject({ remaining: 0, resetMs: expect.any(Number) as unknown });
  });

  it('throttle more than a hundred writes at once', async () => {
    const answers = await Promise.all(Array.from({ length: 160 }, () => change('rules.remove', 'x', null)));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
  });

  it('let another program add a bypass rule, and remove any address', async () => {
    await insert();
    const asked = { provider: 'VERCEL', target: PROJECT, address: '203.0.113.99', description: 'office' };
    expect((await control('POST', '/_rules', asked)).status).toBe(201);
    expect((await control('POST', '/_rules', { ...asked, address: 'office' })).status).toBe(409);
    expect(await open()).toEqual([...LISTED, '203.0.113.99 all null false']);
    for (const address of ['203.0.113.99', '203.0.113.7', '2001:db8::/48'])
      await control('DELETE', `/_rules?provider=VERCEL&target=${PROJECT}&address=${address}`);
    expect(await open()).toEqual([]);
    expect((await read()).body.rules).toHaveLength(1);
  });
});
