import { openToEveryone, ruleKey, type RuleSpec, type TrafficConfig } from '#rules';
import { accessRules, groupRule, observedRules, ruleName, securityRuleOf } from './rule-mapping';

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

  describe('for every source', () => {
    /** `Allow * -> *:22` of the portal's defaults, changed; priorities ascend */
    const isOpen = (config: TrafficConfig, ...rules: object[]): boolean => {
      const read = rules.map((changed, index) =>
        groupRule(
          unmanaged({
            name: `r${index}`,
            priority: 100 + index,
            protocol: '*',
            sourceAddressPrefix: '*',
            ...changed,
          }),
        )!,
      );
      return openToEveryone(config, accessRules(read.toReversed())) !== null;
    };
    const SSH_ONLY = { port: 22 };
    const deny = (changed: object = {}): object => ({ access: 'Deny', ...changed });

    it('and of any protocol with a port let everybody in by TCP and UDP to that port', () => {
      expect(isOpen(SSH_ONLY, {})).toBe(true);
      expect(isOpen({ port: 22, protocol: 'udp' }, {})).toBe(true);
      expect(isOpen({ port: 23 }, {})).toBe(false);
      expect(isOpen({ protocol: 'icmp' }, {})).toBe(false);
      expect(isOpen({ protocol: 'all' }, {})).toBe(false);
      expect(isOpen({ protocol: 'all' }, { destinationPortRange: '*' })).toBe(true);
    });

    it('and of any protocol with a port are neither ours nor in the way of our rules', () => {
      expect(observed(unmanaged({ protocol: '*', sourceAddressPrefix: '*' }))).toEqual([]);
    });

    it.each([
      ['any protocol and the port', deny()],
      ['every port', deny({ destinationPortRange: '*' })],
      ['a range with the port', deny({ destinationPortRange: '20-22' })],
      ['the internet', deny({ sourceAddressPrefix: 'Internet' })],
      ['the virtual network', deny({ destinationAddressPrefix: 'VirtualNetwork' })],
    ])('are hidden by a denial of %s', (_, denial) => {
      expect(isOpen(SSH_ONLY, denial, {})).toBe(false);
      expect(isOpen(SSH_ONLY, {}, denial)).toBe(true);
    });

    it.each([
      ['another IP version', deny({ sourceAddressPrefix: '::/0' })],
      ['another port', deny({ destinationPortRange: '443' })],
      ['another protocol', deny({ protocol: 'Udp' })],
      ['one destination', deny({ destinationAddressPrefix: '10.0.0.5' })],
      [
        'several destinations',
        deny({ destinationAddressPrefix: undefined, destinationAddressPrefixes: ['10.0.0.5', '10.0.0.6'] }),
      ],
      ['every destination of another IP version', deny({ destinationAddressPrefix: '::/0' })],
      ['an application security group', deny({ destinationApplicationSecurityGroups: [{ id: 'x' }] })],
      ['one source port', deny({ sourcePortRange: '1024' })],
      ['some sources', deny({ sourceAddressPrefix: '10.0.0.0/8' })],
      ['a service tag', deny({ sourceAddressPrefix: 'VirtualNetwork' })],
      ['outbound traffic', deny({ direction: 'Outbound' })],
      ['a rule that failed', deny({ provisioningState: 'Failed' })],
      ['a rule that is being written', deny({ provisioningState: 'Updating' })],
    ])('are not hidden by a denial of %s', (_, denial) => {
      expect(isOpen(SSH_ONLY, denial, {})).toBe(true);
      expect(isOpen({ ports: [22, 443] }, denial, {})).toBe(true);
    });

    it.each(['*', 'VirtualNetwork', 'virtualnetwork', '0.0.0.0/0', '::/0'])(
      'let everybody in to the destination %s',
      (destinationAddressPrefix) => {
        expect(isOpen(SSH_ONLY, { destinationAddressPrefix })).toBe(true);
        expect(
          isOpen(SSH_ONLY, {
            destinationAddressPrefix: undefined,
            destinationAddressPrefixes: ['10.0.0.5', destinationAddressPrefix],
          }),
        ).toBe(true);
      },
    );

    it.each([
      { destinationAddressPrefix: '10.0.0.5' },
      { destinationAddressPrefix: '10.0.0.0/8' },
      { destinationAddressPrefix: 'Internet' },
      { destinationAddressPrefix: 'AzureLoadBalancer' },
      { direction: 'Outbound' },
    ])('leave something to restrict with %j', (changed) => {
      expect(isOpen(SSH_ONLY, changed)).toBe(false);
    });

    it('let everybody in from some source ports, which clients choose', () => {
      expect(isOpen(SSH_ONLY, { sourcePortRange: '1024-65535' })).toBe(true);
    });

    it('of ICMP let in those that can have the protocol', () => {
      const icmp = { destinationPortRange: '*', protocol: 'Icmp' };
      expect(isOpen({ protocol: 'icmp' }, icmp)).toBe(true);
      expect(isOpen({ protocol: 'icmp' }, { ...icmp, sourceAddressPrefix: '::/0' })).toBe(false);
    });
  });

  it('are ignored without a name or a priority', () => {
    expect(groupRule({ priority: 100 })).toBeNull();
    expect(groupRule({ name: 'x' })).toBeNull();
  });
});
