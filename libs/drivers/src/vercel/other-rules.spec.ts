import { denialsOf } from './denials';
import { readConfig } from './firewall-config';
import { bypassedAddresses } from './open-bypasses';

const ADDRESS = '203.0.113.7/32';
const PART = { projectId: 'prj_1', hostname: 'admin.example.com', pathPrefix: '/api/v1' };
const PROJECT = { ...PART, hostname: null, pathPrefix: null };
const DENY = { mitigate: { action: 'deny' } };

interface Condition {
  readonly type: string;
  readonly op: string;
  readonly neg?: boolean;
  readonly value: string | readonly string[];
}
const from = (...value: string[]): Condition => ({ type: 'ip_address', op: 'inc', value });
const except = (...value: string[]): Condition => ({ ...from(...value), neg: true });

const rule = (conditions: readonly Condition[], more: object = {}): object => ({
  id: 'rule_1',
  name: 'Unmanaged',
  active: true,
  conditionGroup: [{ conditions }],
  action: DENY,
  ...more,
});
const BYPASS = rule([{ type: 'user_agent', op: 'sub', value: 'bot' }], {
  action: { mitigate: { action: 'bypass' } },
});

const condition = (type: string, op: string, ...value: string[]): Condition => ({ type, op, value });
const bypassed = (path: typeof PART | typeof PROJECT, ...conditions: Condition[]): string[] => {
  const rules = [rule(conditions, { action: { mitigate: { action: 'bypass' } } })];
  return bypassedAddresses(readConfig({ firewallEnabled: true, rules })!, path, 'here');
};
const denials = (path: typeof PART | typeof PROJECT, more: object): [string | null, readonly string[]] => {
  const config = readConfig({ firewallEnabled: true, rules: [], ...more });
  const { blockOf, doubtful } = denialsOf(config!, path, []);
  return [blockOf(ADDRESS), doubtful];
};

describe('What else denies the addresses of a Vercel guard', () => {
  it.each<[string, readonly Condition[]]>([
    ['the address', [from('198.51.100.1', '203.0.113.7')]],
    ['a range that contains it', [from('203.0.113.0/24'), { type: 'path', op: 'pre', value: '/API' }]],
    ['all except others', [except('203.0.113.8'), { type: 'host', op: 'eq', value: 'Admin.example.com' }]],
    ['everybody', [{ type: 'path', op: 'pre', value: '/' }]],
  ])('is certain for %s', (_, conditions) => {
    expect(denials(PART, { rules: [rule(conditions)] })).toEqual(['blocked by Unmanaged', []]);
  });

  it.each<[string, object]>([
    ['another address', rule([from('203.0.113.8')])],
    ['all except the address', rule([except('203.0.113.0/24')])],
    ['another host', rule([from('203.0.113.7'), { type: 'host', op: 'eq', value: 'www.example.com' }])],
    ['another path', rule([from('203.0.113.7'), { type: 'path', op: 'pre', value: '/shop' }])],
    ['nothing, switched off', rule([from('203.0.113.7')], { active: false })],
    ['nothing, and logs', rule([from('203.0.113.7')], { action: { mitigate: { action: 'log' } } })],
  ])('is none for %s', (_, other) => {
    expect(denials(PART, { rules: [other] })).toEqual([null, []]);
  });

  it.each<[string, readonly object[], string]>([
    ['part of the path', [rule([{ type: 'path', op: 'pre', value: '/api/v1/users' }])], 'Unmanaged'],
    ['all except a text', [rule([except('203.0.113.8', 'office')])], 'Unmanaged'],
    [
      'a time',
      [rule([from('203.0.113.7')], { action: { mitigate: { action: 'deny', actionDuration: '1h' } } })],
      'Unmanaged',
    ],
    ['what no bypass lets in', [BYPASS, rule([from('203.0.113.7')])], 'Unmanaged'],
    [
      'those not on the list of another guard',
      [rule([], { name: 'drawbridge-other-1' })],
      'drawbridge-other-1',
    ],
  ])('is doubtful for %s', (_, rules, name) => {
    expect(denials(PART, { rules })).toEqual([null, [name]]);
  });

  it('may be an IP rule, for every host or for the guarded one', () => {
    const deny = (hostname: string, ip = '203.0.113.0/24', action = 'deny'): object => ({
      ips: [{ id: 'ip_1', hostname, ip, action }],
    });
    const certain = ['blocked by the IP rule 203.0.113.0/24', []];
    expect(denials(PART, deny('*'))).toEqual(certain);
    expect(denials(PROJECT, deny('*'))).toEqual(certain);
    expect(denials(PART, deny('Admin.example.com'))).toEqual(certain);
    expect(denials(PART, deny('www.example.com'))).toEqual([null, []]);
    expect(denials(PROJECT, deny('www.example.com'))).toEqual([null, ['the IP rule 203.0.113.0/24']]);
    expect(denials(PART, deny('*', '203.0.113.8'))).toEqual([null, []]);
    expect(denials(PART, deny('*', '203.0.113.7', 'log'))).toEqual([null, []]);
  });
});

describe('A bypass rule', () => {
  it.each([
    ['every path', [condition('path', 'pre', '/')]],
    ['a shorter path', [condition('path', 'pre', '/API')]],
    ['the host', [condition('host', 'eq', 'Admin.example.com')]],
    ['the host among others', [condition('host', 'inc', 'www.example.com', 'admin.example.com')]],
    [
      'the host and the path',
      [condition('host', 'eq', PART.hostname), condition('path', 'pre', PART.pathPrefix)],
    ],
    ['all except some addresses', [condition('ip_address', 'ninc', '203.0.113.1')]],
    ['all except some addresses, negated', [except('203.0.113.1')]],
  ])('lets everybody in with %s', (_, conditions) => {
    expect(bypassed(PART, ...conditions)).toEqual(['0.0.0.0/0', '::/0']);
  });

  it.each([
    ['a longer path', [condition('path', 'pre', '/api/v1/users')]],
    ['one path', [condition('path', 'eq', '/api/v1')]],
    ['all other paths', [{ ...condition('path', 'pre', '/'), neg: true }]],
    ['another host', [condition('host', 'eq', 'www.example.com')]],
    ['something else', [condition('user_agent', 'sub', 'bot')]],
    ['nothing', []],
  ])('lets nobody in to the whole target with %s', (_, conditions) => {
    expect(bypassed(PART, ...conditions)).toEqual([]);
  });

  it('lets its addresses in', () => {
    const list = from('203.0.113.1', '2001:db8::/32');
    expect(bypassed(PROJECT, list, condition('path', 'pre', '/'))).toEqual([
      '203.0.113.1/32',
      '2001:db8::/32',
    ]);
    expect(bypassed(PROJECT, list, list)).toEqual([]);
    expect(bypassed(PROJECT, list, condition('host', 'eq', PART.hostname))).toEqual([]);
  });
});
