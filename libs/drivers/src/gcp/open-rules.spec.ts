import { openToEveryone, type ResourceConfig } from '#rules';
import { readTaggedNetwork, type FirewallRule } from './firewall-mapping';
import { accessRules, networkBlocks } from './open-rules';

const NETWORK = readTaggedNetwork('projects/p/global/networks/default');
const ACCOUNTS = readTaggedNetwork('projects/p/global/networks/default?targetServiceAccounts=a@p,b@p');
const TAGGED = readTaggedNetwork('projects/p/global/networks/default?targetTags=db,web');
const SSH = { port: 22 };

/** The rule `default-allow-ssh` of every default network. */
const allowing = (changed: FirewallRule = {}): FirewallRule => ({
  name: 'default-allow-ssh',
  network: 'projects/p/global/networks/default',
  direction: 'INGRESS',
  priority: 65_534,
  sourceRanges: ['0.0.0.0/0'],
  allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
  ...changed,
});

const denying = (priority: number, changed: FirewallRule = {}): FirewallRule =>
  allowing({ priority, allowed: null, denied: [{ IPProtocol: 'all' }], ...changed });

const isOpen = (rules: readonly FirewallRule[], target = NETWORK, config: ResourceConfig = SSH): boolean =>
  openToEveryone(config, ...accessRules(rules, target)) !== null;

describe('A VPC network', () => {
  it.each([
    ['default-allow-ssh', [allowing()]],
    ['a rule without any source', [allowing({ sourceRanges: null })]],
    ['a rule before a denying one', [allowing({ priority: 900 }), denying(901)]],
    [
      'a rule after a denying one for other ports',
      [allowing(), denying(1, { denied: [{ IPProtocol: 'udp' }] })],
    ],
    [
      'a rule after a denying one for some addresses',
      [allowing(), denying(1, { sourceRanges: ['10.0.0.0/8'] })],
    ],
    ['a rule after a denying one for IPv6', [denying(1, { sourceRanges: ['::/0'] }), allowing()]],
    [
      'a rule after a denying one for a part of its ports',
      [
        allowing({ allowed: [{ IPProtocol: 'tcp', ports: ['20-30'] }] }),
        denying(1, { denied: [{ IPProtocol: 'tcp', ports: ['20-21', '23-25'] }] }),
      ],
    ],
    ['a rule after a disabled denying one', [allowing(), denying(1, { disabled: true })]],
    ['a rule after an outbound denying one', [allowing(), denying(1, { direction: 'EGRESS' })]],
    [
      'a rule after a denying one from instances with a tag',
      [allowing(), denying(1, { sourceRanges: null, sourceTags: ['bastion'] })],
    ],
    [
      'a rule after a denying one to some addresses',
      [allowing(), denying(1, { destinationRanges: ['10.0.0.0/8'] })],
    ],
    ['a rule to every IPv4 address', [allowing({ destinationRanges: ['0.0.0.0/0'] })]],
    ['a rule of lower priority', [allowing({ priority: 65_535 })]],
  ])('lets everybody in with %s', (_, rules) => {
    expect(isOpen(rules)).toBe(true);
    expect(isOpen(rules, TAGGED)).toBe(true);
    expect(isOpen(rules, ACCOUNTS)).toBe(true);
  });

  it.each([
    ['a rule for another network', [allowing({ network: 'projects/p/global/networks/other' })]],
    ['a disabled rule', [allowing({ disabled: true })]],
    ['an outbound rule', [allowing({ direction: 'EGRESS' })]],
    ['a rule for instances with a tag', [allowing({ sourceRanges: null, sourceTags: ['bastion'] })]],
    ['a rule for some instances', [allowing({ targetTags: ['db'] })]],
    ['a rule after a denying one', [allowing(), denying(65_533)]],
    ['a rule beside a denying one of the same priority', [allowing(), denying(65_534)]],
    ['a rule to some addresses', [allowing({ destinationRanges: ['10.0.0.0/8'] })]],
    [
      'a rule after two denying ones for half of all addresses',
      [
        allowing(),
        denying(1, { sourceRanges: ['0.0.0.0/1'] }),
        denying(2, { sourceRanges: ['128.0.0.0/1'] }),
      ],
    ],
  ])('does not let everybody in with %s', (_, rules) => {
    expect(isOpen(rules)).toBe(false);
  });

  it('with target tags is open by rules for all of its tags only', () => {
    expect(isOpen([allowing({ targetTags: ['web', 'db', 'cache'] })], TAGGED)).toBe(true);
    expect(isOpen([allowing({ targetTags: ['web'] })], TAGGED)).toBe(false);
  });

  it('is open by a rule after a denying one for some of its instances', () => {
    const rules = [
      allowing(),
      denying(1, { targetTags: ['db'] }),
      denying(2, { targetServiceAccounts: ['a@p'] }),
    ];
    expect(isOpen(rules)).toBe(true);
    expect(isOpen(rules, readTaggedNetwork('projects/p/global/networks/default?targetTags=web'))).toBe(true);
  });

  it('with target tags is open by one rule for each tag', () => {
    const [db, web] = [allowing({ targetTags: ['db'] }), allowing({ name: 'web', targetTags: ['web'] })];
    expect(isOpen([db, web], TAGGED)).toBe(true);
    expect(isOpen([db, web, denying(1, { targetTags: ['db'] })], TAGGED)).toBe(false);
    expect(isOpen([db, web])).toBe(false);
  });

  it('with target service accounts is open by rules for all of them, and by rules for the network', () => {
    const [a, b] = ['a@p', 'b@p'].map((account) => allowing({ targetServiceAccounts: [account] }));
    expect(isOpen([a!], ACCOUNTS)).toBe(false);
    expect(isOpen([a!, b!], ACCOUNTS)).toBe(true);
    const denial = denying(1, { targetServiceAccounts: ['a@p', 'b@p'] });
    expect(isOpen([denial, allowing()], ACCOUNTS)).toBe(false);
    expect(isOpen([denial, allowing()])).toBe(true);
  });
});

describe('A denial on a VPC network', () => {
  const blockOf = (priority: number, changed: FirewallRule = {}, target = NETWORK): string | null =>
    networkBlocks(
      [denying(priority, { name: 'deny', ...changed })],
      target,
    )({
      address: '203.0.113.7/32',
      protocol: 'tcp',
      ports: [{ from: 22, to: 22 }],
    });

  it('blocks our rule at the same priority, and not after it', () => {
    expect(blockOf(1000)).toBe('blocked by deny');
    expect(blockOf(1001)).toBeNull();
  });

  it('blocks our rule when it applies to every part of the target', () => {
    expect(blockOf(1, { targetTags: ['db'] }, TAGGED)).toBeNull();
    expect(blockOf(1, { targetTags: ['db', 'web'] }, TAGGED)).toBe('blocked by deny');
    expect(blockOf(1, {}, ACCOUNTS)).toBe('blocked by deny');
  });
});
