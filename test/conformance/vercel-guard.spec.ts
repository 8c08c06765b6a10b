import { randomUUID } from 'node:crypto';
import { DriverRegistry, type CloudTarget, type ProviderDriver, type RuleChange } from '#drivers';
import { ruleKey, type ChangeResult, type RuleSpec } from '#rules';
import { startSimulator, type RunningSimulator } from '../../apps/simulator/src/start-simulator';

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly conditionGroup: readonly { readonly conditions: readonly { type: string; value: unknown }[] }[];
  readonly action: object;
}

const PROJECT = 'prj_simulated1';
const EVERYBODY = ['0.0.0.0/0', '::/0'];
const spec = (address: string): RuleSpec => ({ address, protocol: 'all', ports: [] });
const host = (index: number): string => `203.${Math.floor(index / 250)}.113.${index % 250}/32`;

/** The one rule that Vercel's driver writes: nobody is let in by accident, and nobody kept out against the record. */
describe('The guard of a Vercel project', () => {
  let simulator: RunningSimulator;
  let driver: ProviderDriver;

  beforeAll(async () => {
    simulator = await startSimulator();
    driver = await new DriverRegistry({ VERCEL_API_URL: `${simulator.url}/vercel` }).driver('VERCEL');
  });
  beforeEach(() => fetch(`${simulator.url}/_reset`, { method: 'POST' }));
  afterAll(() => simulator.close());

  const place = (config: Readonly<Record<string, string>> = {}): CloudTarget => ({
    resourceType: 'FIREWALL_RULE',
    identifier: DriverRegistry.facts('VERCEL').resourceTypes['FIREWALL_RULE']!.place({
      identifier: PROJECT,
      config,
      organization: 'any',
      hints: {},
    }).identifier,
    region: null,
    credential: {
      credentialType: 'TOKEN',
      data: { token: 'simulated-vercel-token', teamId: 'team_simulated' },
      externalId: null,
    },
    deployment: 'test',
    claims: new Map(),
  });
  const claiming = (target: CloudTarget, ...addresses: string[]): CloudTarget => ({
    ...target,
    claims: new Map(addresses.map((address) => [ruleKey(spec(address)), `rule of ${address}`])),
  });
  const add = (address: string): RuleChange => {
    const ruleId = randomUUID();
    const mark = { deployment: 'test', ruleId, expiresAt: null };
    return { action: 'add', ruleId, spec: spec(address), mark, config: {} };
  };
  const remove = (address: string): RuleChange => ({
    action: 'remove',
    ruleId: randomUUID(),
    providerRuleId: `rule_x#${address}`,
  });
  const kinds = (results: readonly ChangeResult[]): string[] =>
    results.map((result) => (result.result === 'refused' ? result.kind : result.result));
  const apply = async (target: CloudTarget, ...changes: RuleChange[]): Promise<string[]> =>
    kinds(await driver.applyChanges(target, changes));
  const vercel = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(
      `${simulator.url}/vercel/v1/security/firewall/${path}?projectId=${PROJECT}`,
      {
        method,
        headers: { authorization: 'Bearer simulated-vercel-token' },
        ...(body && { body: JSON.stringify(body) }),
      },
    );
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const rules = async (): Promise<Rule[]> =>
    ((await vercel('GET', 'config/active')) as { rules: Rule[] }).rules;
  const byHand = (action: string, id: string | null, value: unknown): Promise<unknown> =>
    vercel('PATCH', 'config', { action, id, value });
  const letIn = async (): Promise<string[]> => {
    const response = await fetch(`${simulator.url}/_rules?provider=VERCEL&target=${PROJECT}`);
    return ((await response.json()) as { address: string }[]).map(({ address }) => address).sort();
  };
  const sent = async (): Promise<Omit<Rule, 'id'>> => {
    const [{ id: _, ...rule }] = (await rules()) as [Rule & { valid?: unknown; validationErrors?: unknown }];
    const { valid: _valid, validationErrors: _errors, ...whole } = rule;
    return whole;
  };

  it('keeps everybody out when its list is empty, and has no empty condition then', async () => {
    const target = place();
    await apply(target, add(host(1)));
    expect(await apply(target, remove(host(1)))).toEqual(['done']);
    expect(await letIn()).toEqual([]);
    const [guard] = await rules();
    expect(guard).toMatchObject({ active: true, action: { mitigate: { action: 'deny' } } });
    expect(guard!.conditionGroup).toEqual([{ conditions: [{ type: 'path', op: 'pre', value: '/' }] }]);
    expect(await driver.readRules(target)).toEqual([]);
    expect(await apply(target, add(host(2)))).toEqual(['done']);
    expect(await letIn()).toEqual([host(2).slice(0, -3)]);
    expect(await rules()).toHaveLength(1);
  });

  it('is made again with everybody of our record when somebody deletes it', async () => {
    const target = place();
    await apply(target, add(host(1)), add(host(2)), add(host(3)));
    await byHand('rules.remove', (await rules())[0]!.id, null);
    expect(await letIn()).toEqual(EVERYBODY);
    const claimed = claiming(target, host(1), host(2), host(3));
    expect(await driver.readRules(claimed)).toEqual([]);
    expect(await apply(claimed, remove(host(2)), add(host(3)), add(host(4)))).toEqual([
      'done',
      'done',
      'done',
    ]);
    expect(await letIn()).toEqual([1, 3, 4].map((index) => host(index).slice(0, -3)));
  });

  it('is not made by a removal: who deleted it wants it gone', async () => {
    expect(await apply(place(), remove(host(1)))).toEqual(['done']);
    await expect(rules()).rejects.toThrow('Config not found');
  });

  it.each<[string, (guard: Rule) => object]>([
    ['switched off', () => ({ active: false })],
    ['made to log only', () => ({ action: { mitigate: { action: 'log' } } })],
    ['made to last', () => ({ action: { mitigate: { action: 'deny', actionDuration: '1h' } } })],
    [
      'given another condition',
      ({ conditionGroup: [group] }) => ({
        conditionGroup: [{ conditions: [...group!.conditions, { type: 'method', op: 'eq', value: 'POST' }] }],
      }),
    ],
    [
      'given another group',
      ({ conditionGroup }) => ({
        conditionGroup: [...conditionGroup, { conditions: [{ type: 'path', op: 'pre', value: '/x' }] }],
      }),
    ],
    [
      'renamed and given another action',
      () => ({ name: 'mine', action: { mitigate: { action: 'challenge' } } }),
    ],
  ])('is not in force when it was %s, and is written again', async (_, bend) => {
    const target = claiming(place(), host(1), host(2));
    await apply(target, add(host(1)), add(host(2)));
    const whole = await sent();
    const [guard] = await rules();
    await byHand('rules.update', guard!.id, { ...whole, ...bend(guard!) });
    expect(await driver.readRules(target)).toMatchObject([
      { ownRuleId: `rule of ${host(1)}`, inForce: false },
      { ownRuleId: `rule of ${host(2)}`, inForce: false },
    ]);
    expect(await apply(target, add(host(1)))).toEqual(['done']);
    expect(await sent()).toEqual(whole);
    expect((await rules()).map(({ id }) => id)).toEqual([guard!.id]);
  });

  it('is one: a second one, which would keep out whom the first lets in, goes with the next write', async () => {
    const target = place();
    await apply(target, add(host(1)));
    const whole = await sent();
    await apply(target, remove(host(1)), add(host(2)));
    await byHand('rules.insert', null, whole);
    expect(await letIn()).toEqual([]);
    expect((await driver.readRules(target)).map(({ inForce }) => inForce)).toEqual([false, false]);
    expect(await apply(target, add(host(2)), remove(host(1)))).toEqual(['done', 'done']);
    expect(await letIn()).toEqual([host(2).slice(0, -3)]);
    expect(await rules()).toHaveLength(1);
  });

  it('counts whom nobody of our record wants as ours: a late write has left them behind', async () => {
    const target = place();
    await apply(target, add(host(1)), add(host(2)));
    const observed = await driver.readRules(claiming(target, host(1)));
    expect(observed.map(({ ownRuleId }) => ownRuleId)).toEqual([
      `rule of ${host(1)}`,
      (await rules())[0]!.id,
    ]);
  });

  it.each([
    ['a project', {}, 4875],
    ['a host', { hostname: 'admin.example.com' }, 4800],
    ['paths of a host', { hostname: 'admin.example.com', pathPrefix: '/admin' }, 4725],
  ])('of %s holds as many as fit in its conditions, and refuses the rest', async (_, config, room) => {
    const target = place(config);
    const all = Array.from({ length: room + 2 }, (__, index) => add(host(index)));
    expect(new Set(await apply(target, ...all.slice(0, room - 1)))).toEqual(new Set(['done']));
    expect(await apply(target, ...all.slice(room - 1))).toEqual(['done', 'quota', 'quota']);
    expect(await apply(target, remove(host(0)), all[room]!)).toEqual(['done', 'done']);
    expect(await letIn()).toHaveLength(room);
    const [guard] = await rules();
    expect(guard!.conditionGroup.map(({ conditions }) => conditions.length)).toEqual([65]);
  });

  it('of a host stands beside the one of the project, and beside rules of others, which stay as they are', async () => {
    const unmanaged = { ...UNMANAGED, name: 'Bots stay out' };
    await byHand('rules.insert', null, unmanaged);
    await byHand('rules.insert', null, { ...UNMANAGED, name: 'drawbridge-other-0123456789abcdef' });
    const before = await rules();
    const part = place({ hostname: 'Admin.Example.com', pathPrefix: '/admin' });
    await apply(place(), add(host(1)));
    await apply(part, add(host(1)), add(host(2)));
    const [, , whole, ofPart] = await rules();
    expect((await rules()).slice(0, 2)).toEqual(before);
    expect(whole!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([['203.0.113.1']]);
    expect(ofPart!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([
      'admin.example.com',
      '/admin',
      ['203.0.113.1', '203.0.113.2'],
    ]);
    await apply(part, remove(host(1)), remove(host(2)));
    expect((await rules())[3]!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([
      'admin.example.com',
      '/admin',
    ]);
    expect((await rules()).slice(0, 2)).toEqual(before);
    expect((await driver.readRules(place())).map(({ key }) => key)).toEqual([ruleKey(spec(host(1)))]);
  });

  it('is skipped by rules of others before it: they let in whom they name, and are not ours', async () => {
    const bypass = (value: string, changed: object = {}): object => ({
      ...UNMANAGED,
      conditionGroup: [{ conditions: [{ type: 'ip_address', op: 'eq', value }] }],
      action: { mitigate: { action: 'bypass' } },
      ...changed,
    });
    await byHand('rules.insert', null, bypass('203.0.113.91'));
    await byHand('rules.insert', null, bypass('203.0.113.92', { active: false }));
    const partly = [
      {
        conditions: [
          { type: 'ip_address', op: 'eq', value: '203.0.113.93' },
          { type: 'path', op: 'pre', value: '/x' },
        ],
      },
    ];
    await byHand('rules.insert', null, bypass('203.0.113.93', { conditionGroup: partly }));
    await apply(place(), add(host(1)));
    await byHand('rules.insert', null, bypass('203.0.113.94'));
    expect((await driver.readRules(place())).map(({ key, ownRuleId }) => [key, ownRuleId === null])).toEqual([
      [ruleKey(spec(host(1))), false],
      [ruleKey(spec('203.0.113.91/32')), true],
    ]);
  });

  it('is worth nothing in a firewall that is switched off, which verifying tells', async () => {
    await driver.verify(place());
    await apply(place(), add(host(1)));
    await driver.verify(place());
    await byHand('firewallEnabled', null, false);
    await expect(driver.verify(place())).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('switched off') as unknown,
    });
  });
});

const UNMANAGED = {
  name: 'Of others',
  description: 'not for Drawbridge',
  active: true,
  conditionGroup: [{ conditions: [{ type: 'user_agent', op: 'sub', value: 'bot' }] }],
  action: { mitigate: { action: 'challenge' } },
};
