import { rangesAround, UnmanagedRules } from './unmanaged-rules';

describe('UnmanagedRules', () => {
  const rule = (
    key: string,
    more: object = {},
  ): { key: string; providerRuleId: string; ownRuleId: null } => ({
    key,
    providerRuleId: 'sgr-1',
    ownRuleId: null,
    ...more,
  });

  it.each([
    ['203.0.113.5/32 tcp 22', '203.0.113.5/32 tcp 22'],
    ['203.0.113.5/32 tcp 22', '203.0.113.0/24 tcp 20-30'],
    ['203.0.113.5/32 tcp 22,443', '0.0.0.0/0 tcp 443'],
    ['203.0.113.5/32 tcp *', '0.0.0.0/0 tcp 443'],
    ['203.0.113.5/32 tcp 22', '0.0.0.0/0 all *'],
    ['203.0.112.0/23 udp 53', '203.0.112.0/20 udp *'],
    ['2001:db8::5/128 tcp 22', '2001:db8::/32 tcp 22'],
    ['2001:db8::5/128 tcp 22', '::/0 tcp *'],
  ])('%s is let in by %s', (key, other) => {
    expect(new UnmanagedRules([rule(other)]).lettingIn(key)).toBe(`sgr-1 (${other})`);
  });

  it.each([
    ['203.0.113.5/32 tcp 22', '203.0.113.6/32 tcp 22'],
    ['203.0.113.5/32 tcp 22', '203.0.113.0/24 tcp 80'],
    ['203.0.113.5/32 tcp 22', '203.0.113.0/24 udp 22'],
    ['203.0.113.5/32 tcp 22', 'sg-1 tcp 22'],
    ['203.0.112.0/23 tcp 22', '203.0.112.0/24 tcp 22'],
    ['203.0.113.5/32 tcp 22', '::/0 tcp 22'],
    ['2001:db8::5/128 tcp 22', '0.0.0.0/0 all *'],
  ])('%s is not let in by %s', (key, other) => {
    expect(new UnmanagedRules([rule(other)]).lettingIn(key)).toBeNull();
  });

  it('leaves out rules of ours and rules that are not in force, and names three', () => {
    const key = '203.0.113.5/32 tcp 22';
    const none = [rule(key, { ownRuleId: 'ours' }), rule(key, { inForce: false })];
    expect(new UnmanagedRules(none).lettingIn(key)).toBeNull();
    const five = Array.from({ length: 5 }, () => rule(key));
    expect(new UnmanagedRules(five).lettingIn(key)).toBe(
      `sgr-1 (${key}), sgr-1 (${key}), sgr-1 (${key}) and 2 more`,
    );
  });

  it('a range is in every shorter range around it', () => {
    expect(rangesAround('203.0.113.128/2')).toEqual(['0.0.0.0/0', '128.0.0.0/1', '192.0.0.0/2']);
    expect(rangesAround('2001:db8::1/128')).toHaveLength(129);
    expect(new Set(rangesAround('2001:db8::1/128')).size).toBe(129);
  });
});
