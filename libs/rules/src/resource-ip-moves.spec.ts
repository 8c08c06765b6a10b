import type { RuleState } from './rule';
import { resourceIpMoves, type ResourceIpStatus, type SettledIp } from './status';

/** A rule with those who hold it whatever happens, and those who wait for it. */
type SettledRule = SettledIp['rules'][number] & { readonly holds: string[]; readonly waits: string[] };

describe('resourceIpMoves', () => {
  const rule = (state: RuleState, more: Partial<SettledRule> = {}): SettledRule => ({
    id: 'rule',
    state,
    providerRuleId: 'sgr-1',
    lastError: null,
    holds: [],
    waits: [],
    ...more,
  });
  const ip = (id: string, status: ResourceIpStatus, ...rules: SettledRule[]): SettledIp => ({
    id,
    status,
    timedOut: false,
    givenUp: null,
    rules,
  });
  const moves = (ips: readonly SettledIp[], failed: readonly string[], wasRead: boolean) => {
    const rules = ips.flatMap((one) => one.rules) as SettledRule[];
    return resourceIpMoves(ips, new Set(failed), wasRead, (ruleId, own, failing) =>
      rules
        .filter(({ id }) => id === ruleId)
        .some(({ holds, waits }) =>
          [...holds, ...waits.filter((id) => !failing.has(id))].some((id) => id !== own),
        ),
    );
  };
  const movesOf = (
    ips: readonly SettledIp[],
    failed: readonly string[] = [],
    wasRead = true,
  ): Record<string, ResourceIpStatus> =>
    Object.fromEntries(moves(ips, failed, wasRead).map(({ ip: { id }, move }) => [id, move.to]));

  it('makes a waiting ResourceIp APPLIED with the ids of all its rules, only after a read', () => {
    const two = ip(
      'a',
      'PENDING',
      rule('present'),
      rule('present', { id: 'other', providerRuleId: 'sgr-2' }),
    );
    expect(moves([two], [], true)).toEqual([
      { ip: two, move: { to: 'APPLIED', errorMessage: null, providerRuleId: 'sgr-1,sgr-2' } },
    ]);
    expect(movesOf([two], [], false)).toEqual({});
  });

  it.each<[string, Partial<SettledRule>, boolean]>([
    ['yes, with another live holder', { holds: ['b'] }, true],
    ['yes, with another waiting holder', { waits: ['b'] }, true],
    ['no, without another holder', {}, false],
    ['no, when it is the only holder itself', { holds: ['a'], waits: ['a'] }, false],
  ])('makes a released ResourceIp of a present rule REMOVED: %s', (_, more, isRemoved) => {
    expect(movesOf([ip('a', 'REMOVING', rule('present', more))])).toEqual(isRemoved ? { a: 'REMOVED' } : {});
  });

  it('does not count holders that fail in the same pass as other holders', () => {
    const shared = rule('unknown', { waits: ['b'] });
    const ips = [ip('a', 'REMOVING', shared), ip('b', 'PENDING', shared)];
    expect(movesOf(ips)).toEqual({ a: 'REMOVED' });
    expect(movesOf(ips, ['rule'])).toEqual({ b: 'FAILED' });
  });

  it('fails a timed-out ResourceIp with the provider’s message, only if a rule is missing', () => {
    const missing = rule('unknown', { lastError: 'slow down' });
    const waits = { ...ip('a', 'PENDING', missing), timedOut: true };
    expect(moves([waits], [], false)).toMatchObject([{ move: { to: 'FAILED', errorMessage: 'slow down' } }]);
    expect(movesOf([{ ...ip('a', 'PENDING', rule('present')), timedOut: true }])).toEqual({ a: 'APPLIED' });
  });
});
