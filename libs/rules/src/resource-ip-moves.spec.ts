import type { RuleState } from './planner';
import { resourceIpMoves, type ResourceIpStatus, type SettledIp, type SettledRule } from './status';

describe('resourceIpMoves', () => {
  const rule = (state: RuleState, more: Partial<SettledRule> = {}): SettledRule => ({
    ruleId: 'rule',
    state,
    providerRuleId: 'sgr-1',
    lastError: null,
    unaffectedHolders: new Set(),
    waiting: new Set(),
    ...more,
  });
  const ip = (id: string, status: ResourceIpStatus, ...rules: SettledRule[]): SettledIp => ({
    id,
    status,
    timedOut: false,
    givenUp: null,
    rules,
  });
  const movesOf = (
    ips: readonly SettledIp[],
    failed: readonly string[] = [],
    wasRead = true,
  ): Record<string, ResourceIpStatus> =>
    Object.fromEntries(
      resourceIpMoves(ips, new Set(failed), wasRead).map(({ ip: { id }, move }) => [id, move.to]),
    );

  it('makes a waiting ResourceIp APPLIED with the ids of all its rules, only after a read', () => {
    const two = ip(
      'a',
      'PENDING',
      rule('present'),
      rule('present', { ruleId: 'other', providerRuleId: 'sgr-2' }),
    );
    expect(resourceIpMoves([two], new Set(), true)).toEqual([
      { ip: two, move: { to: 'APPLIED', errorMessage: null, providerRuleId: 'sgr-1,sgr-2' } },
    ]);
    expect(movesOf([two], [], false)).toEqual({});
  });

  it.each<[string, Partial<SettledRule>, boolean]>([
    ['yes, with another live holder', { unaffectedHolders: new Set(['b']) }, true],
    ['yes, with another waiting holder', { waiting: new Set(['b']) }, true],
    ['no, without another holder', {}, false],
    [
      'no, when it is the only holder itself',
      { unaffectedHolders: new Set(['a']), waiting: new Set(['a']) },
      false,
    ],
  ])('makes a released ResourceIp of a present rule REMOVED: %s', (_, more, isRemoved) => {
    expect(movesOf([ip('a', 'REMOVING', rule('present', more))])).toEqual(isRemoved ? { a: 'REMOVED' } : {});
  });

  it('does not count holders that fail in the same pass as other holders', () => {
    const shared = rule('unknown', { waiting: new Set(['b']) });
    const ips = [ip('a', 'REMOVING', shared), ip('b', 'PENDING', shared)];
    expect(movesOf(ips)).toEqual({ a: 'REMOVED' });
    expect(movesOf(ips, ['rule'])).toEqual({ b: 'FAILED' });
  });

  it('fails a timed-out ResourceIp with the provider’s message, only if a rule is missing', () => {
    const missing = rule('unknown', { lastError: 'slow down' });
    const waits = { ...ip('a', 'PENDING', missing), timedOut: true };
    expect(resourceIpMoves([waits], new Set(), false)).toMatchObject([
      { move: { to: 'FAILED', errorMessage: 'slow down' } },
    ]);
    expect(movesOf([{ ...ip('a', 'PENDING', rule('present')), timedOut: true }])).toEqual({ a: 'APPLIED' });
  });
});
