import { type OwnershipMark, type RuleSpec } from '#rules';
import { GCP_FACTS } from './gcp.facts';
import {
  firewallOf,
  isAsWritten,
  observedRules,
  readTaggedNetwork,
  type FirewallRule,
} from './firewall-mapping';

const MARK: OwnershipMark = {
  deployment: 'test',
  ruleId: '0b6ad20a-6f3c-4a24-9a0f-1c7a7d7b0a11',
  expiresAt: 1_900_000_000,
};
const NETWORK = readTaggedNetwork('projects/p/global/networks/default');
const TAGGED = readTaggedNetwork('projects/p/global/networks/default?targetTags=db,web');
const SPEC: RuleSpec = {
  address: '203.0.113.7/32',
  protocol: 'tcp',
  ports: [
    { from: 22, to: 22 },
    { from: 80, to: 90 },
  ],
};
const existing = (changes: Partial<FirewallRule> = {}, target = NETWORK): FirewallRule => ({
  ...firewallOf(target, SPEC, MARK),
  id: '42',
  network: 'https://www.googleapis.com/compute/v1/projects/p/global/networks/default',
  ...changes,
});

describe('GCP firewall rules', () => {
  it('have a name that depends only on RuleSpec, target and deployment', () => {
    const { name } = firewallOf(NETWORK, SPEC, MARK);
    expect(
      firewallOf(NETWORK, SPEC, { ...MARK, ruleId: MARK.ruleId.replace('0b', '1c'), expiresAt: null }).name,
    ).toBe(name);
    const others = [
      firewallOf(TAGGED, SPEC, MARK),
      firewallOf(readTaggedNetwork('projects/q/global/networks/default'), SPEC, MARK),
      firewallOf(NETWORK, { ...SPEC, protocol: 'udp' }, MARK),
      firewallOf(NETWORK, SPEC, { ...MARK, deployment: 'other' }),
    ].map((rule) => rule.name);
    expect(new Set([name, ...others]).size).toBe(5);
  });

  it.each<[string, Partial<FirewallRule>]>([
    ['outbound', { direction: 'EGRESS' }],
    ['disabled', { disabled: true }],
    ['of another network', { network: 'projects/p/global/networks/other' }],
    ['for instances with a tag', { targetTags: ['db'] }],
    ['for a service account', { targetServiceAccounts: ['a@b'] }],
    ['to some destinations', { destinationRanges: ['10.0.0.1/32'] }],
    ['denying', { allowed: [] }],
    ['of another protocol', { allowed: [{ IPProtocol: 'esp', ports: [] }] }],
  ])('are ignored when they are %s', (_, changes) => {
    expect(observedRules(existing(changes), NETWORK, 'test')).toEqual([]);
    expect(isAsWritten(existing(changes), NETWORK, SPEC)).toBe(false);
  });

  it('of other programs are mapped to every combination of range and protocol', () => {
    const rule = existing({
      sourceRanges: ['203.0.113.7', '2001:DB8::/32'],
      allowed: [
        { IPProtocol: 'TCP', ports: ['443', '22'] },
        { IPProtocol: '17', ports: ['0-65535'] },
        { IPProtocol: '58', ports: [] },
      ],
    });
    expect(observedRules(rule, NETWORK, 'test').map(({ key }) => key)).toEqual([
      '203.0.113.7/32 tcp 22,443',
      '203.0.113.7/32 udp *',
      '2001:db8::/32 tcp 22,443',
      '2001:db8::/32 udp *',
      '2001:db8::/32 icmp *',
    ]);
    expect(isAsWritten(rule, NETWORK, SPEC)).toBe(false);
  });

  it('have the priority and the service accounts of their target, and belong to no other', () => {
    const first = readTaggedNetwork('projects/p/global/networks/default?priority=900');
    const ofAccounts = readTaggedNetwork(
      'projects/p/global/networks/default?targetServiceAccounts=a@p.iam,b@p.iam&priority=0',
    );
    expect(firewallOf(NETWORK, SPEC, MARK)).toMatchObject({ priority: 1000 });
    expect(firewallOf(NETWORK, SPEC, MARK)).not.toHaveProperty('targetServiceAccounts');
    expect(firewallOf(first, SPEC, MARK)).toMatchObject({ priority: 900, targetTags: [] });
    expect(firewallOf(ofAccounts, SPEC, MARK)).toMatchObject({
      priority: 0,
      targetTags: [],
      targetServiceAccounts: ['a@p.iam', 'b@p.iam'],
    });
    const targets = [NETWORK, TAGGED, first, ofAccounts];
    for (const target of targets) {
      const observing = targets.filter(
        (other) => observedRules(existing({}, target), other, 'test').length > 0,
      );
      expect(observing).toEqual([target]);
    }
    expect(new Set(targets.map((target) => firewallOf(target, SPEC, MARK).name)).size).toBe(4);
  });

  it('belong to a target that is named by its network and tags in canonical form', () => {
    const { nameTarget } = GCP_FACTS.resourceTypes['FIREWALL']!;
    const hints = { project_id: 'p' };
    const named = (identifier: string, config: object = {}): string =>
      nameTarget({ identifier, config: { ...config }, organization: 'any', hints }).key;
    expect(named('default')).toBe('GCP:firewall:projects/p/global/networks/default');
    expect(named('projects/p/global/networks/DEFAULT')).toBe(named('default'));
    expect(named('projects/host/global/networks/default')).not.toBe(named('default'));
    expect(named('default', { targetTags: ['web', 'db', 'web'] })).toBe(
      'GCP:firewall:projects/p/global/networks/default?targetTags=db,web',
    );
    expect(named('default', { priority: 1000 })).toBe(named('default'));
    expect(named('default', { targetServiceAccounts: ['b@p', 'a@p'], priority: 65_535 })).toBe(
      'GCP:firewall:projects/p/global/networks/default?targetServiceAccounts=a@p,b@p&priority=65535',
    );
  });
});
