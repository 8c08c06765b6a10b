import { DriverRegistry, type CloudTarget, type CloudDriver, type RuleChange } from '#drivers';
import { ruleKey } from '#rules';
import { startSimulator, type RunningSimulator } from '../../apps/simulator/src/start-simulator';
import { addition, allOf, claiming, kinds, remove, simulatedTarget } from './driver-actions';

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly conditionGroup: readonly { readonly conditions: readonly { type: string; value: unknown }[] }[];
  readonly action: object;
}

const PROJECT = 'prj_simulated1';
const ANY_ADDRESS = ['0.0.0.0/0', '::/0'];
const host = (index: number): string => `203.${Math.floor(index / 250)}.113.${index % 250}/32`;

/** The custom rule that the Vercel driver manages: it must allow exactly the addresses in the database. */
describe('The guard of a Vercel project', () => {
  let simulator: RunningSimulator;
  let driver: CloudDriver;

  beforeAll(async () => {
    simulator = await startSimulator();
    driver = await new DriverRegistry({ VERCEL_API_URL: `${simulator.url}/vercel` }).driver('VERCEL');
  });
  beforeEach(() => fetch(`${simulator.url}/_reset`, { method: 'POST' }));
  afterAll(() => simulator.close());

  const targetOf = (config: Readonly<Record<string, string>> = {}): CloudTarget => {
    const { nameTarget } = DriverRegistry.facts('VERCEL').resourceTypes['FIREWALL_RULE']!;
    const { identifier } = nameTarget({ identifier: PROJECT, config, organization: 'any', hints: {} });
    const data = { token: 'simulated-vercel-token', teamId: 'team_simulated' };
    return simulatedTarget('VERCEL', identifier, data);
  };
  const add = (address: string): RuleChange => addition(allOf(address));
  const removal = (address: string): RuleChange => remove(`rule_x#${address}`);
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
  const patchRule = (action: string, id: string | null, value: unknown): Promise<unknown> =>
    vercel('PATCH', 'config', { action, id, value });
  const allowedAddresses = async (): Promise<string[]> => {
    const response = await fetch(`${simulator.url}/_rules?provider=VERCEL&target=${PROJECT}`);
    return ((await response.json()) as { address: string }[]).map(({ address }) => address).sort();
  };
  const sent = async (): Promise<Omit<Rule, 'id'>> => {
    const [{ id: _, ...rule }] = (await rules()) as [Rule & { valid?: unknown; validationErrors?: unknown }];
    const { valid: _valid, validationErrors: _errors, ...whole } = rule;
    return whole;
  };

  it('is recreated with every claimed address after it was deleted', async () => {
    const target = targetOf();
    await apply(target, add(host(1)), add(host(2)), add(host(3)));
    await patchRule('rules.remove', (await rules())[0]!.id, null);
    expect(await allowedAddresses()).toEqual(ANY_ADDRESS);
    const claimed = claiming(target, host(1), host(2), host(3));
    expect((await driver.readRules(claimed)).rules).toEqual([]);
    expect(await apply(claimed, removal(host(2)), add(host(3)), add(host(4)))).toEqual([
      'done',
      'done',
      'done',
    ]);
    expect(await allowedAddresses()).toEqual([1, 3, 4].map((index) => host(index).slice(0, -3)));
  });

  it('is not recreated by a removal', async () => {
    expect(await apply(targetOf(), removal(host(1)))).toEqual(['done']);
    await expect(rules()).rejects.toThrow('Config not found');
  });

  it.each<[string, (guard: Rule) => object]>([
    ['disabled', () => ({ active: false })],
    ['changed to log only', () => ({ action: { mitigate: { action: 'log' } } })],
    ['given a duration', () => ({ action: { mitigate: { action: 'deny', actionDuration: '1h' } } })],
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
  ])('is not in force when it was %s, and is overwritten', async (_, edit) => {
    const target = claiming(targetOf(), host(1), host(2));
    await apply(target, add(host(1)), add(host(2)));
    const whole = await sent();
    const [guard] = await rules();
    await patchRule('rules.update', guard!.id, { ...whole, ...edit(guard!) });
    expect((await driver.readRules(target)).rules).toMatchObject([
      { ownRuleId: `rule of ${host(1)}`, inForce: false, difference: expect.any(String) as string },
      { ownRuleId: `rule of ${host(2)}`, inForce: false, difference: expect.any(String) as string },
    ]);
    expect(await apply(target, add(host(1)))).toEqual(['done']);
    expect(await sent()).toEqual(whole);
    expect((await rules()).map(({ id }) => id)).toEqual([guard!.id]);
  });

  it('is unique: a duplicate is removed by the next write', async () => {
    const target = targetOf();
    await apply(target, add(host(1)));
    const whole = await sent();
    await apply(target, removal(host(1)), add(host(2)));
    await patchRule('rules.insert', null, whole);
    expect(await allowedAddresses()).toEqual([]);
    expect((await driver.readRules(target)).rules.map(({ inForce }) => inForce)).toEqual([false, false]);
    expect(await apply(target, add(host(2)), removal(host(1)))).toEqual(['done', 'done']);
    expect(await allowedAddresses()).toEqual([host(2).slice(0, -3)]);
    expect(await rules()).toHaveLength(1);
  });

  it('reports unclaimed entries as ours, because a delayed write left them', async () => {
    const target = targetOf();
    await apply(target, add(host(1)), add(host(2)));
    const observed = (await driver.readRules(claiming(target, host(1)))).rules;
    expect(observed.map(({ ownRuleId }) => ownRuleId)).toEqual([
      `rule of ${host(1)}`,
      (await rules())[0]!.id,
    ]);
  });

  it.each([
    ['a project', {}, 4875],
    ['paths of a host', { hostname: 'admin.example.com', pathPrefix: '/admin' }, 4725],
  ])(
    'of %s accepts as many addresses as fit in its conditions and refuses the others',
    async (_, config, room) => {
      const target = targetOf(config);
      const all = Array.from({ length: room + 2 }, (__, index) => add(host(index)));
      expect(new Set(await apply(target, ...all.slice(0, room - 1)))).toEqual(new Set(['done']));
      expect(await apply(target, ...all.slice(room - 1))).toEqual(['done', 'quota', 'quota']);
      expect(await apply(target, removal(host(0)), all[room]!)).toEqual(['done', 'done']);
      expect(await allowedAddresses()).toHaveLength(room);
      const [guard] = await rules();
      expect(guard!.conditionGroup.map(({ conditions }) => conditions.length)).toEqual([65]);
    },
  );

  it('of a host coexists with the one of the project and with unmanaged rules, which do not change', async () => {
    const unmanaged = { ...UNMANAGED, name: 'Bots stay out' };
    await patchRule('rules.insert', null, unmanaged);
    await patchRule('rules.insert', null, { ...UNMANAGED, name: 'drawbridge-other-0123456789abcdef' });
    const before = await rules();
    const part = targetOf({ hostname: 'Admin.Example.com', pathPrefix: '/admin' });
    await apply(targetOf(), add(host(1)));
    await apply(part, add(host(1)), add(host(2)));
    const [, , whole, ofPart] = await rules();
    expect((await rules()).slice(0, 2)).toEqual(before);
    expect(whole!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([['203.0.113.1']]);
    expect(ofPart!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([
      'admin.example.com',
      '/admin',
      ['203.0.113.1', '203.0.113.2'],
    ]);
    await apply(part, removal(host(1)), removal(host(2)));
    expect((await rules())[3]!.conditionGroup[0]!.conditions.map(({ value }) => value)).toEqual([
      'admin.example.com',
      '/admin',
    ]);
    expect((await rules()).slice(0, 2)).toEqual(before);
    expect((await driver.readRules(targetOf())).rules.map(({ key }) => key)).toEqual([
      ruleKey(allOf(host(1))),
    ]);
  });

  it('is bypassed by unmanaged rules before it, which are reported as unmanaged', async () => {
    const bypass = (value: string, changed: object = {}): object => ({
      ...UNMANAGED,
      conditionGroup: [{ conditions: [{ type: 'ip_address', op: 'eq', value }] }],
      action: { mitigate: { action: 'bypass' } },
      ...changed,
    });
    await patchRule('rules.insert', null, bypass('203.0.113.91'));
    await patchRule('rules.insert', null, bypass('203.0.113.92', { active: false }));
    const partly = [
      {
        conditions: [
          { type: 'ip_address', op: 'eq', value: '203.0.113.93' },
          { type: 'path', op: 'pre', value: '/x' },
        ],
      },
    ];
    await patchRule('rules.insert', null, bypass('203.0.113.93', { conditionGroup: partly }));
    await apply(targetOf(), add(host(1)));
    await patchRule('rules.insert', null, bypass('203.0.113.94'));
    expect(
      (await driver.readRules(targetOf())).rules.map(({ key, ownRuleId }) => [key, ownRuleId === null]),
    ).toEqual([
      [ruleKey(allOf(host(1))), false],
      [ruleKey(allOf('203.0.113.91/32')), true],
    ]);
  });

  it('is named with what else denies its addresses, wherever that rule is', async () => {
    const target = targetOf({ pathPrefix: '/admin' });
    const deny = (name: string, ...conditions: object[]): Promise<unknown> =>
      patchRule('rules.insert', null, {
        ...UNMANAGED,
        name,
        conditionGroup: [{ conditions }],
        action: { mitigate: { action: 'deny' } },
      });
    await deny('before', { type: 'ip_address', op: 'eq', value: '203.0.113.1' });
    await apply(target, add(host(1)), add(host(2)), add(host(3)));
    await deny('after', { type: 'ip_address', op: 'inc', neg: true, value: ['203.0.113.1', '203.0.113.3'] });
    expect((await driver.readRules(target)).rules.map(({ noEffect }) => noEffect)).toEqual([
      'blocked by before',
      'blocked by after',
      undefined,
    ]);
    expect(await driver.verify(target, {})).toEqual({ warnings: [] });
    await deny('agents', { type: 'user_agent', op: 'sub', value: 'bot' });
    const warnings = ['Addresses of sessions may be blocked by agents'];
    expect(await driver.verify(target, {})).toEqual({ warnings });
  });

  it('has no effect while the firewall is disabled, which verify reports', async () => {
    await apply(targetOf(), add(host(1)));
    await driver.verify(targetOf(), {});
    await patchRule('firewallEnabled', null, false);
    await expect(driver.verify(targetOf(), {})).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('switched off') as unknown,
    });
  });
});

const UNMANAGED = {
  name: 'Unmanaged',
  description: 'not for Drawbridge',
  active: true,
  conditionGroup: [{ conditions: [{ type: 'user_agent', op: 'sub', value: 'bot' }] }],
  action: { mitigate: { action: 'challenge' } },
};
