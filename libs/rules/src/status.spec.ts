import * as fc from 'fast-check';
import type { RuleState } from './rule';
import {
  ENDED_REASONS,
  HOLDING_STATUSES,
  LIVE_SESSION_STATUSES,
  RESOURCE_IP_MOVES,
  RESOURCE_IP_STATUSES,
  resourceIpStatus,
  SESSION_MOVES,
  SESSION_STATUSES,
  sessionStatus,
  overallStatus,
  type HeldRule,
  type ResourceIpStatus,
  type SessionStatus,
} from './status';

/** All lists of up to `maxLength` items. */
function listsOf<T>(items: readonly T[], maxLength: number): T[][] {
  let longest: T[][] = [[]];
  const all = [...longest];
  for (let length = 1; length <= maxLength; length += 1) {
    longest = longest.flatMap((list) => items.map((item) => [...list, item]));
    all.push(...longest);
  }
  return all;
}

const REASONS = [null, ...ENDED_REASONS];
const IP_LISTS = listsOf(RESOURCE_IP_STATUSES, 4);
const RULE_STATES: RuleState[] = ['absent', 'unknown', 'present'];
const HELD: HeldRule[] = RULE_STATES.flatMap((state) => [
  { state, hasOtherHolder: false },
  { state, hasOtherHolder: true },
]);
const RULE_LISTS = listsOf(HELD, 3);

/** The distinct statuses of a list, sorted: `APPLIED FAILED`. */
const mixOf = (ips: readonly ResourceIpStatus[]): string => [...new Set(ips)].sort().join(' ');

/** What a session becomes with these lists and any of these reasons to have ended. */
const becomes = (
  current: SessionStatus,
  lists: readonly ResourceIpStatus[][],
  reasons: Parameters<typeof sessionStatus>[2][] = REASONS,
): Set<SessionStatus> =>
  new Set(lists.flatMap((ips) => reasons.map((reason) => sessionStatus(current, ips, reason))));

describe('sessionStatus', () => {
  it.each([
    ['PENDING', 'PENDING'],
    ['EXPIRING', 'REMOVING'],
  ] as const)('stays %s while one of its ResourceIps is %s', (current, status) => {
    const lists = IP_LISTS.filter((ips) => ips.includes(status));
    expect(becomes(current, lists)).toEqual(new Set([current]));
  });

  it.each([
    ['EXPIRED', 'EXPIRED'],
    ['MANUAL', 'CANCELLED'],
    ['ADMIN', 'CANCELLED'],
  ] as const)('ended by %s becomes %s once nothing is REMOVING', (reason, expected) => {
    const removed = IP_LISTS.filter((ips) => !ips.includes('REMOVING'));
    expect(becomes('EXPIRING', removed, [reason])).toEqual(new Set([expected]));
  });

  it.each([
    ['PENDING', 'APPLIED', 'ACTIVE'],
    ['PENDING', 'APPLIED FAILED', 'PARTIAL'],
    ['PENDING', 'FAILED', 'FAILED'],
    // after its resource moved
    ['ACTIVE', 'APPLIED', 'ACTIVE'],
    ['ACTIVE', 'APPLIED PENDING', 'ACTIVE'],
    ['ACTIVE', 'FAILED PENDING', 'ACTIVE'],
    ['ACTIVE', 'APPLIED FAILED', 'PARTIAL'],
    ['ACTIVE', 'FAILED', 'FAILED'],
    ['PARTIAL', 'APPLIED FAILED', 'PARTIAL'],
    ['PARTIAL', 'APPLIED', 'ACTIVE'],
    ['PARTIAL', 'FAILED PENDING', 'PARTIAL'],
    ['PARTIAL', 'FAILED', 'FAILED'],
  ] as const)('from %s with %s becomes %s', (current, mix, expected) => {
    const lists = IP_LISTS.filter((ips) => mixOf(ips) === mix);
    expect(becomes(current, lists, [null])).toEqual(new Set([expected]));
  });

  it.each(['FAILED', 'EXPIRED', 'CANCELLED'] as const)('%s never changes', (current) => {
    expect(becomes(current, IP_LISTS)).toEqual(new Set([current]));
  });
});

describe('sessionStatus with a suspended rule', () => {
  it('becomes PARTIAL from ACTIVE, whatever its ResourceIps', () => {
    const statuses = IP_LISTS.map((ips) => sessionStatus('ACTIVE', ips, null, true));
    expect(new Set(statuses)).toEqual(new Set(['PARTIAL']));
  });

  it.each(SESSION_STATUSES.filter((status) => status !== 'ACTIVE'))('is unaffected from %s', (current) => {
    for (const ips of IP_LISTS)
      for (const reason of REASONS)
        expect(sessionStatus(current, ips, reason, true)).toBe(sessionStatus(current, ips, reason));
  });

  it('becomes ACTIVE again once the rule is repaired, unless another one failed', () => {
    expect(sessionStatus('PARTIAL', ['APPLIED', 'APPLIED'], null, false)).toBe('ACTIVE');
    expect(sessionStatus('PARTIAL', ['APPLIED', 'FAILED'], null, false)).toBe('PARTIAL');
  });
});

describe('overallStatus', () => {
  it.each([
    [['PENDING'], 'PENDING'],
    [['APPLIED', 'PENDING', 'FAILED'], 'PENDING'],
    [['APPLIED', 'APPLIED'], 'ACTIVE'],
    [['APPLIED', 'FAILED'], 'PARTIAL'],
    [['FAILED', 'FAILED'], 'FAILED'],
  ] as const)('with %j is %s', (ips, expected) => {
    expect(overallStatus(ips)).toBe(expected);
  });
});

describe('resourceIpStatus', () => {
  const withRules = RULE_LISTS.filter((rules) => rules.length > 0);
  const distinct = (
    current: ResourceIpStatus,
    lists: readonly HeldRule[][],
    failed: boolean,
  ): Set<ResourceIpStatus> => new Set(lists.map((rules) => resourceIpStatus(current, rules, failed)));

  it('PENDING becomes APPLIED once all its rules are present, and not before', () => {
    const waiting = (rules: readonly HeldRule[]): boolean => !rules.every(({ state }) => state === 'present');
    expect(distinct('PENDING', withRules.filter(waiting), false)).toEqual(new Set(['PENDING']));
    const opened = withRules.filter((rules) => !waiting(rules));
    expect(distinct('PENDING', opened, false)).toEqual(new Set(['APPLIED']));
  });

  it('PENDING becomes FAILED once an addition was given up, whatever is present', () => {
    expect(distinct('PENDING', RULE_LISTS, true)).toEqual(new Set(['FAILED']));
  });

  it.each([false, true])(
    'REMOVING becomes REMOVED once all its rules are absent or have other holders, and not before (failed: %s)',
    (failed) => {
      const gone = (rules: readonly HeldRule[]): boolean =>
        rules.every(({ state, hasOtherHolder }) => state === 'absent' || hasOtherHolder);
      expect(distinct('REMOVING', RULE_LISTS.filter(gone), failed)).toEqual(new Set(['REMOVED']));
      const left = RULE_LISTS.filter((rules) => !gone(rules));
      expect(distinct('REMOVING', left, failed)).toEqual(new Set(['REMOVING']));
    },
  );

  it.each(['APPLIED', 'FAILED', 'REMOVED'] as const)('%s never changes by its rules', (current) => {
    expect(distinct(current, RULE_LISTS, false)).toEqual(new Set([current]));
    expect(distinct(current, RULE_LISTS, true)).toEqual(new Set([current]));
  });
});

describe('Status transitions', () => {
  it('of sessions go back only when a suspended rule is repaired', () => {
    expect(SESSION_MOVES).toEqual({
      PENDING: ['ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING'],
      ACTIVE: ['PARTIAL', 'FAILED', 'EXPIRING'],
      PARTIAL: ['ACTIVE', 'FAILED', 'EXPIRING'],
      EXPIRING: ['EXPIRED', 'CANCELLED'],
      FAILED: [],
      EXPIRED: [],
      CANCELLED: [],
    });
    const ending = SESSION_STATUSES.filter((status) => SESSION_MOVES[status].includes('EXPIRING'));
    expect(ending).toEqual([...LIVE_SESSION_STATUSES]);
  });

  it('of ResourceIps go back only when a resource moves', () => {
    expect(RESOURCE_IP_MOVES).toEqual({
      PENDING: ['APPLIED', 'FAILED', 'REMOVING'],
      APPLIED: ['PENDING', 'REMOVING'],
      REMOVING: ['REMOVED', 'FAILED'],
      FAILED: [],
      REMOVED: [],
    });
    const going = RESOURCE_IP_STATUSES.filter((status) => RESOURCE_IP_MOVES[status].includes('REMOVING'));
    expect(going).toEqual([...HOLDING_STATUSES]);
  });
});

describe('Only listed transitions are made', () => {
  const ips = fc.array(fc.constantFrom(...RESOURCE_IP_STATUSES), { maxLength: 8 });
  const session = fc.tuple(fc.constantFrom(...SESSION_STATUSES), ips, fc.constantFrom(...REASONS));
  const rules = fc.array(fc.constantFrom(...HELD), { maxLength: 5 });
  const address = fc.tuple(fc.constantFrom(...RESOURCE_IP_STATUSES), rules, fc.boolean());

  const legal = <S extends string>(moves: Readonly<Record<S, readonly S[]>>, from: S, to: S): boolean =>
    from === to || moves[from].includes(to);
  const sessionProperty = (subject: typeof sessionStatus) =>
    fc.property(session, ([from, statuses, reason]) =>
      legal(SESSION_MOVES, from, subject(from, statuses, reason)),
    );
  const addressProperty = (subject: typeof resourceIpStatus) =>
    fc.property(address, ([from, held, failed]) =>
      legal(RESOURCE_IP_MOVES, from, subject(from, held, failed)),
    );

  it('by sessionStatus', () => {
    expect(fc.check(sessionProperty(sessionStatus), { numRuns: 2000 }).failed).toBe(false);
    const blind: typeof sessionStatus = (_, ...given) => sessionStatus('PENDING', ...given);
    expect(fc.check(sessionProperty(blind), { numRuns: 20_000 }).failed).toBe(true);
  });

  it('by resourceIpStatus', () => {
    expect(fc.check(addressProperty(resourceIpStatus), { numRuns: 2000 }).failed).toBe(false);
    const blind: typeof resourceIpStatus = (_, ...given) => resourceIpStatus('PENDING', ...given);
    expect(fc.check(addressProperty(blind), { numRuns: 20_000 }).failed).toBe(true);
  });
});
