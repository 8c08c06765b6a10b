import { openToEveryone } from '#rules';
import { readTaggedNetwork, type FirewallRule } from './firewall-mapping';
import { effectiveAllowances } from './open-rules';

const NETWORK = readTaggedNetwork('projects/p/global/networks/default');
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

const isOpen = (rules: readonly FirewallRule[], target = NETWORK): boolean =>
  openToEveryone(SSH, effectiveAllowances(rules, target, SSH)) !== null;

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
  ])('lets everybody in with %s', (_, rules) => {
    expect(isOpen(rules)).toBe(true);
    expect(isOpen(rules, TAGGED)).toBe(true);
  });

  it.each([
    ['a rule for another network', [allowing({ network: 'projects/p/global/networks/other' })]],
    ['a disabled rule', [allowing({ disabled: true })]],
    ['an outbound rule', [allowing({ direction: 'EGRESS' })]],
    ['a rule for instances with a tag', [allowing({ sourceRanges: null, sourceTags: ['bastion'] })]],
    ['a rule for some instances', [allowing({ targetTags: ['db'] })]],
    ['a rule after a denying one', [allowing(), denying(65_533)]],
    ['a rule beside a denying one of the same priority', [allowing(), denying(65_534)]],
  ])('does not let everybody in with %s', (_, rules) => {
    expect(isOpen(rules)).toBe(false);
  });

  it('with target tags is open by rules for all of its tags only', () => {
    expect(isOpen([allowing({ targetTags: ['web', 'db', 'cache'] })], TAGGED)).toBe(true);
    expect(isOpen([allowing({ targetTags: ['web'] })], TAGGED)).toBe(false);
  });
});
