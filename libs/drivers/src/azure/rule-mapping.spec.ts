import { openToEveryone, ruleKey, type RuleSpec } from '#rules';
import { effectiveAllowances, groupRule, observedRules, ruleName, securityRuleOf } from './rule-mapping';

const RULE_ID = '11111111-2222-4333-8444-555555555555';
const MARK = { deployment: 'here', ruleId: RULE_ID, expiresAt: 1_900_000_000 };
const SSH: RuleSpec = { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] };

const written = (spec: RuleSpec = SSH, changed: object = {}): object => ({
  name: 'a-rule',
  provisioningState: 'Succeeded',
  ...securityRuleOf(spec, MARK, 1000),
  ...changed,
});
const observed = (...rules: object[]): ReturnType<typeof observedRules> =>
  observedRules(
    rules.map((rule) => groupRule(rule)!),
    'here',
  );
const unmanaged = (changed: object = {}): object => written(SSH, { description: 'office', ...changed });

describe('Azure security rules', () => {
  it.each<[RuleSpec, object]>([
    [SSH, { protocol: 'Tcp', destinationPortRange: '22', sourceAddressPrefix: '203.0.113.7/32' }],
    [
      {
        address: '2001:db8::/48',
        protocol: 'udp',
        ports: [
          { from: 53, to: 53 },
          { from: 6000, to: 6010 },
        ],
      },
      { protocol: 'Udp', destinationPortRanges: ['53', '6000-6010'], sourceAddressPrefix: '2001:db8::/48' },
    ],
    [
      { address: '203.0.113.7/32', protocol: 'icmp', ports: [] },
      { protocol: 'Icmp', destinationPortRange: '*' },
    ],
    [
      { address: '203.0.113.7/32', protocol: 'all', ports: [] },
      { protocol: '*', destinationPortRange: '*' },
    ],
  ])('are written in Azure’s format for %j and mapped back to the same key', (spec, spelled) => {
    expect(securityRuleOf(spec, MARK, 1000)).toMatchObject({
      ...spelled,
      access: 'Allow',
      direction: 'Inbound',
      priority: 1000,
      sourcePortRange: '*',
      destinationAddressPrefix: '*',
      description: `drawbridge:here:${RULE_ID}:1900000000`,
    });
    expect(observed(written(spec))).toEqual([
      { key: ruleKey(spec), providerRuleId: 'a-rule', ownRuleId: RULE_ID },
    ]);
  });

  it('have a deterministic name of at most 80 characters that differs by RuleSpec', () => {
    const deployment = 'd'.repeat(32);
    expect(ruleName(SSH, deployment)).toBe(ruleName({ ...SSH }, deployment));
    expect(ruleName(SSH, deployment)).toMatch(/^[a-z0-9][\w.-]{1,78}\w$/);
    expect(ruleName({ ...SSH, protocol: 'udp' }, deployment)).not.toBe(ruleName(SSH, deployment));
  });

  it.each([
    ['case', { protocol: 'TCP', access: 'ALLOW', direction: 'inbound' }],
    ['a bare address', { sourceAddressPrefix: '203.0.113.7' }],
    ['lists of one', { sourceAddressPrefix: undefined, sourceAddressPrefixes: ['203.0.113.7/32'] }],
    ['every source port as a range', { sourcePortRange: '0-65535' }],
  ])('of other programs are recognized in another spelling: %s', (_, changed) => {
    expect(observed(unmanaged(changed))).toEqual([
      { key: ruleKey(SSH), providerRuleId: 'a-rule', ownRuleId: null },
    ]);
  });

  it('are mapped once for each address of a list', () => {
    const sourceAddressPrefixes = ['198.51.100.1', '*'];
    const keys = observed(unmanaged({ sourceAddressPrefixes })).map(({ key }) => key);
    expect(keys).toEqual([
      '203.0.113.7/32 tcp 22',
      '198.51.100.1/32 tcp 22',
      '0.0.0.0/0 tcp 22',
      '::/0 tcp 22',
    ]);
  });

  it.each([
    ['outbound', { direction: 'Outbound' }],
    ['denying', { access: 'Deny' }],
    ['for one destination', { destinationAddressPrefix: '10.0.0.4' }],
    ['from one port', { sourcePortRange: '1024' }],
    ['for an application security group', { destinationApplicationSecurityGroups: [{ id: 'x' }] }],
    ['of another protocol', { protocol: 'Esp' }],
    ['from a service tag', { sourceAddressPrefix: 'VirtualNetwork' }],
    ['still being written', { provisioningState: 'Updating' }],
    ['that failed', { provisioningState: 'Failed' }],
  ])('of other programs are ignored: %s', (_, changed) => {
    expect(observed(unmanaged(changed))).toEqual([]);
  });

  it('of other programs are ignored after a denying rule, ours are not', () => {
    const denying = unmanaged({ name: 'no', access: 'Deny', priority: 900 });
    expect(observed(denying, unmanaged())).toEqual([]);
    expect(observed(denying, written())).toHaveLength(1);
    expect(observed({ ...denying, priority: 1100 }, unmanaged())).toHaveLength(1);
  });

  it.each([
    ['still being written', { provisioningState: 'Updating' }],
    ['being deleted', { provisioningState: 'Deleting' }],
    ['that failed', { provisioningState: 'Failed' }],
    ['changed to deny', { access: 'Deny' }],
    ['narrowed', { destinationAddressPrefix: '10.0.0.4' }],
  ])('of ours are present but not in force: %s', (_, changed) => {
    expect(observed(written(SSH, changed))).toEqual([
      { key: ruleKey(SSH), providerRuleId: 'a-rule', ownRuleId: RULE_ID, inForce: false },
    ]);
  });

  it.each([
    ['alone', [{ priority: 500 }], true],
    ['before a denying rule', [{ priority: 500 }, { priority: 501, access: 'Deny' }], true],
    ['after a denying rule', [{ priority: 500 }, { priority: 499, access: 'Deny' }], false],
    [
      'after a denying rule for other ports',
      [{ priority: 500 }, { priority: 499, access: 'Deny', destinationPortRange: '80' }],
      true,
    ],
    ['to one destination', [{ priority: 500, destinationAddressPrefix: '10.0.0.4' }], false],
    ['outbound', [{ priority: 500, direction: 'Outbound' }], false],
  ] as const)('that let everybody in count %s: %j %s', (_, rules, isOpen) => {
    const everybody = { sourceAddressPrefix: 'Internet', provisioningState: 'Succeeded' };
    const read = rules.map((changed, index) =>
      groupRule(unmanaged({ name: `r${index}`, ...everybody, ...changed }))!,
    );
    expect(openToEveryone({ port: 22 }, effectiveAllowances(read, { port: 22 })) !== null).toBe(isOpen);
  });

  it('of ICMP have the protocol of their IP version', () => {
    const icmp = (address: string): RuleSpec => ({ address, protocol: 'icmp', ports: [] });
    for (const [address, protocol, other] of [
      ['203.0.113.7/32', 'Icmp', 'Icmpv6'],
      ['2001:db8::7/128', 'Icmpv6', 'Icmp'],
    ] as const) {
      const spec = icmp(address);
      expect(securityRuleOf(spec, MARK, 1000)).toMatchObject({ protocol });
      expect(observed(written(spec))).toEqual([
        { key: ruleKey(spec), providerRuleId: 'a-rule', ownRuleId: RULE_ID },
      ]);
      // it lets nothing in, and is overwritten in place
      expect(observed(written(spec, { protocol: other }))).toMatchObject([
        { key: ruleKey(spec), inForce: false },
      ]);
    }
  });

  it('are ignored without a name or a priority', () => {
    expect(groupRule({ priority: 100 })).toBeNull();
    expect(groupRule({ name: 'x' })).toBeNull();
  });
});
