import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import { observedRule } from './rule-mapping';

const tcp = (fields: SecurityGroupRule): SecurityGroupRule => ({
  SecurityGroupRuleId: 'sgr-1',
  IsEgress: false,
  IpProtocol: 'tcp',
  FromPort: 22,
  ToPort: 22,
  CidrIpv4: '203.0.113.7/32',
  ...fields,
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
});
