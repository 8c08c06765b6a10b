import type { CustomRule, RuleCondition } from './firewall-config';
import { bypassedAddresses } from './open-bypasses';

const PROJECT = { projectId: 'prj_1', hostname: null, pathPrefix: null };
const PART = { projectId: 'prj_1', hostname: 'admin.example.com', pathPrefix: '/api/v1' };
const EVERYBODY = ['0.0.0.0/0', '::/0'];

const condition = (type: string, op: string, ...values: string[]): RuleCondition => ({
  type,
  op,
  neg: false,
  values,
});

const bypassed = (path: typeof PROJECT | typeof PART, ...conditions: RuleCondition[]): string[] => {
  const rule: CustomRule = {
    id: 'rule',
    name: 'Unmanaged',
    description: '',
    isActive: true,
    action: 'bypass',
    groups: [conditions],
  };
  return bypassedAddresses({ isEnabled: true, rules: [rule], ipRules: [] }, path, 'here');
};

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
    ['all except some addresses, negated', [{ ...condition('ip_address', 'inc', '203.0.113.1'), neg: true }]],
  ])('lets everybody in with %s', (_, conditions) => {
    expect(bypassed(PART, ...conditions)).toEqual(EVERYBODY);
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
    const list = condition('ip_address', 'inc', '203.0.113.1', '2001:db8::/32');
    expect(bypassed(PROJECT, list, condition('path', 'pre', '/'))).toEqual([
      '203.0.113.1/32',
      '2001:db8::/32',
    ]);
    expect(bypassed(PROJECT, list, list)).toEqual([]);
    expect(bypassed(PROJECT, list, condition('host', 'eq', PART.hostname))).toEqual([]);
  });
});
