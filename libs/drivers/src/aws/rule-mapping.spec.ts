import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import { formatMark, type RuleSpec } from '#rules';
import type { AddChange } from '../provider-driver';
import { observedRule, ruleKeyOfEc2, permissionsOf } from './rule-mapping';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: 1_900_000_000 };

const add = (address: string, protocol: RuleSpec['protocol'], ports: RuleSpec['ports'] = []): AddChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: { address, protocol, ports },
  mark: MARK,
  config: {},
});

const tcp = (fields: SecurityGroupRule): SecurityGroupRule => ({
  SecurityGroupRuleId: 'sgr-1',
  IsEgress: false,
  IpProtocol: 'tcp',
  FromPort: 22,
  ToPort: 22,
  CidrIpv4: '203.0.113.7/32',
  ...fields,
});

describe('EC2 permissions for rules', () => {
  it('groups addresses by protocol and port range', () => {
    const ssh = [{ from: 22, to: 22 }];
    const adds = [
      add('203.0.113.7/32', 'tcp', ssh),
      add('203.0.113.8/32', 'tcp', [{ from: 443, to: 443 }]),
      add('2001:db8::7/128', 'tcp', ssh),
      add('198.51.100.0/24', 'tcp', ssh),
      add('203.0.113.7/32', 'udp', ssh),
    ];
    const Description = formatMark(MARK);
    expect(permissionsOf(adds)).toEqual([
      {
        IpProtocol: 'tcp',
        FromPort: 22,
        ToPort: 22,
        IpRanges: [
          { CidrIp: '203.0.113.7/32', Description },
          { CidrIp: '198.51.100.0/24', Description },
        ],
        Ipv6Ranges: [{ CidrIpv6: '2001:db8::7/128', Description }],
      },
      {
        IpProtocol: 'tcp',
        FromPort: 443,
        ToPort: 443,
        IpRanges: [{ CidrIp: '203.0.113.8/32', Description }],
      },
      { IpProtocol: 'udp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '203.0.113.7/32', Description }] },
    ]);
  });

  it.each([
    ['203.0.113.7/32', 'all', '-1', -1, -1],
    ['203.0.113.7/32', 'icmp', 'icmp', -1, -1],
    ['2001:db8::7/128', 'icmp', 'icmpv6', -1, -1],
    ['203.0.113.7/32', 'tcp', 'tcp', 0, 65_535],
    ['2001:db8::7/128', 'udp', 'udp', 0, 65_535],
  ] as const)('%s %s without a port', (address, protocol, IpProtocol, FromPort, ToPort) => {
    expect(permissionsOf([add(address, protocol)])).toMatchObject([{ IpProtocol, FromPort, ToPort }]);
  });

  it('are mapped back to the same rule keys', () => {
    const specs = [
      add('203.0.113.7/32', 'all'),
      add('203.0.113.7/32', 'icmp'),
      add('2001:db8::/48', 'icmp'),
      add('203.0.113.7/32', 'udp'),
      add('2001:db8::7/128', 'tcp', [{ from: 6000, to: 6010 }]),
    ];
    const keys = specs.map((change) => {
      const [permission] = permissionsOf([change]);
      const { IpRanges, Ipv6Ranges, ...traffic } = permission ?? {};
      const rule = { ...traffic, CidrIpv4: IpRanges?.[0]?.CidrIp, CidrIpv6: Ipv6Ranges?.[0]?.CidrIpv6 };
      return ruleKeyOfEc2(rule);
    });
    expect(keys).toEqual([
      '203.0.113.7/32 all *',
      '203.0.113.7/32 icmp *',
      '2001:db8::/48 icmp *',
      '203.0.113.7/32 udp *',
      '2001:db8::7/128 tcp 6000-6010',
    ]);
  });
});

describe('Observed EC2 rules', () => {
  it.each([
    ['a number for a protocol', tcp({ IpProtocol: '6' }), '203.0.113.7/32 tcp 22'],
    ['a range with host bits', tcp({ CidrIpv4: '203.0.113.7/24' }), '203.0.113.0/24 tcp 22'],
    [
      'IPv6 in capitals',
      tcp({ CidrIpv4: undefined, CidrIpv6: '2001:DB8:0:0::7/128' }),
      '2001:db8::7/128 tcp 22',
    ],
    ['every protocol', tcp({ IpProtocol: '-1', FromPort: -1, ToPort: -1 }), '203.0.113.7/32 all *'],
    ['every port', tcp({ FromPort: 0, ToPort: 65_535 }), '203.0.113.7/32 tcp *'],
  ])('maps %s', (_, rule, key) => {
    expect(observedRule(rule, 'prod')).toEqual({ key, providerRuleId: 'sgr-1', ownRuleId: null });
  });

  it.each([
    ['an outbound rule', tcp({ IsEgress: true })],
    ['a rule for another group', tcp({ CidrIpv4: undefined, ReferencedGroupInfo: { GroupId: 'sg-2' } })],
    ['a rule for a prefix list', tcp({ CidrIpv4: undefined, PrefixListId: 'pl-1' })],
    ['another protocol', tcp({ IpProtocol: '50', FromPort: -1, ToPort: -1 })],
    ['one ICMP type', tcp({ IpProtocol: 'icmp', FromPort: 8, ToPort: -1 })],
    ['ICMP of the other family', tcp({ IpProtocol: 'icmpv6', FromPort: -1, ToPort: -1 })],
    ['TCP without ports', tcp({ FromPort: undefined, ToPort: undefined })],
  ])('ignores %s, unless it is a recorded rule that was changed', (_, rule) => {
    expect(observedRule(rule, 'prod')).toBeNull();
    const written = '203.0.113.7/32 tcp 22';
    expect(observedRule(rule, 'prod', (id) => (id === 'sgr-1' ? written : undefined))).toMatchObject({
      key: written,
      inForce: false,
      difference: expect.stringContaining('it lets in ') as string,
    });
  });

  it.each([
    ['our mark', formatMark(MARK), RULE_ID],
    ['the mark of another deployment', formatMark({ ...MARK, deployment: 'staging' }), null],
    ['a longer text', `${formatMark(MARK)} office`, null],
    ['no text', undefined, null],
  ])('determines the owner from %s', (_, Description, ownRuleId) => {
    expect(observedRule(tcp({ Description }), 'prod')).toMatchObject({ ownRuleId });
  });
});
