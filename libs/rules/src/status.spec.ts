import * as fc from 'fast-check';
import type { RuleState } from './planner';
import {
  ENDED_REASONS,
  HOLDING_STATUSES,
  LIVE_SESSION_STATUSES,
  RESOURCE_IP_MOVES,
  RESOURCE_IP_STATUSES,
  resourceIpMoves,
  resourceIpStatus,
  SESSION_MOVES,
  SESSION_STATUSES,
  sessionStatus,
  overallStatus,
  type HeldRule,
  type ResourceIpStatus,
  type SessionStatus,
  type SettledIp,
  type SettledRule,
} from './status';

/** Every list of up to `most` items. */
function listsOf<T>(items: readonly T[], most: number): T[][] {
  let longest: T[][] = [[]];
  const all = [...longest];
  for (let length = 1; length <= most; length += 1) {
    longest = longest.flatMap((list) => items.map((item) => [...list, item]));
    all.push(...longest);
  }
  return all;
}

const REASONS = [null, ...ENDED_REASONS];
const IP_LISTS = listsOf(RESOURCE_IP_STATUSES, 4);
const RULE_STATES: RuleState[] = Object.keys({
  absent: true,
  unknown: true,
  present: true,
} satisfies Record<RuleState, true>) as RuleState[];
const HELD: HeldRule[] = RULE_STATES.flatMap((state) => [
  { state, keptByOthers: false },
  { state, keptByOthers: true },
]);
const RULE_LISTS = listsOf(HELD, 3);

/** The statuses in a list, each once, in alphabetical order: `APPLIED FAILED`. */
const mixOf = (ips: readonly ResourceIpStatus[]): string => [...new Set(ips)].sort().join(' ');

describe('the status of a session that is PENDING', () => {
  const waiting = IP_LISTS.filter((ips) => ips.includes('PENDING'));

  it('stays while one of its addresses is not settled', () => {
    const statuses = waiting.flatMap((ips) => REASONS.map((reason) => sessionStatus('PENDING', ips, reason)));
    expect(new Set(statuses)).toEqual(new Set(['PENDING']));
  });

  it.each([
    ['APPLIED', 'ACTIVE'],
    ['APPLIED FAILED', 'PARTIAL'],
    ['FAILED', 'FAILED'],
  ] as const)('with %s it becomes %s', (mix, expected) => {
    const lists = IP_LISTS.filter((ips) => mixOf(ips) === mix);
    expect(lists.length).toBeGreaterThan(0);
    expect(new Set(lists.map((ips) => sessionStatus('PENDING', ips, null)))).toEqual(new Set([expected]));
  });
});

describe('the status of a session that is EXPIRING', () => {
  const removing = IP_LISTS.filter((ips) => ips.includes('REMOVING'));
  const removed = IP_LISTS.filter((ips) => !ips.includes('REMOVING'));

  it('stays while one of its addresses is REMOVING', () => {
    const statuses = removing.flatMap((ips) =>
      REASONS.map((reason) => sessionStatus('EXPIRING', ips, reason)),
    );
    expect(new Set(statuses)).toEqual(new Set(['EXPIRING']));
  });

  it.each([
    ['EXPIRED', 'EXPIRED'],
    ['MANUAL', 'CANCELLED'],
    ['ADMIN', 'CANCELLED'],
  ] as const)('ended by %s it becomes %s', (reason, expected) => {
    expect(new Set(removed.map((ips) => sessionStatus('EXPIRING', ips, reason)))).toEqual(
      new Set([expected]),
    );
  });
});

describe('the status of a session whose resource moved', () => {
  const mixed = (mix: string): ResourceIpStatus[][] => IP_LISTS.filter((ips) => mixOf(ips) === mix);

  it.each([
    ['ACTIVE', 'APPLIED', 'ACTIVE'],
    ['ACTIVE', 'APPLIED PENDING', 'ACTIVE'],
    ['ACTIVE', 'FAILED PENDING', 'ACTIVE'],
    ['ACTIVE', 'APPLIED FAILED', 'PARTIAL'],
    ['ACTIVE', 'FAILED', 'FAILED'],
    ['PARTIAL', 'APPLIED FAILED', 'PARTIAL'],
    ['PARTIAL', 'APPLIED', 'ACTIVE'],
    ['PARTIAL', 'FAILED PENDING', 'PARTIAL'],
    ['PARTIAL', 'FAILED', 'FAILED'],
  ] as const)('from %s with %s is %s', (current, mix, expected) => {
    const lists = mixed(mix);
    expect(lists.length).toBeGreaterThan(0);
    expect(new Set(lists.map((ips) => sessionStatus(current, ips, null)))).toEqual(new Set([expected]));
  });
});

describe('the status of a session with a rule that another program keeps removing', () => {
  it('is PARTIAL when it was ACTIVE, whatever its addresses are', () => {
    const statuses = IP_LISTS.map((ips) => sessionStatus('ACTIVE', ips, null, true));
    expect(new Set(statuses)).toEqual(new Set(['PARTIAL']));
  });

  it.each(SESSION_STATUSES.filter((status) => status !== 'ACTIVE'))(
    'is as without it when it was %s',
    (current) => {
      for (const ips of IP_LISTS)
        for (const reason of REASONS)
          expect(sessionStatus(current, ips, reason, true)).toBe(sessionStatus(current, ips, reason));
    },
  );

  it('is ACTIVE again once the rule is back, unless another one was refused', () => {
    expect(sessionStatus('PARTIAL', ['APPLIED', 'APPLIED'], null, false)).toBe('ACTIVE');
    expect(sessionStatus('PARTIAL', ['APPLIED', 'FAILED'], null, false)).toBe('PARTIAL');
  });
});

describe('the status of a static IP rule', () => {
  it.each([
    [['PENDING'], 'PENDING'],
    [['APPLIED', 'PENDING', 'FAILED'], 'PENDING'],
    [['APPLIED', 'APPLIED'], 'ACTIVE'],
    [['APPLIED', 'FAILED'], 'PARTIAL'],
    [['FAILED', 'FAILED'], 'FAILED'],
  ] as const)('with %j is %s', (entries, expected) => {
    expect(overallStatus(entries)).toBe(expected);
  });
});

describe('the status of any other session', () => {
  it.each(['FAILED', 'EXPIRED', 'CANCELLED'] as const)('%s does not follow from its addresses', (current) => {
    const statuses = IP_LISTS.flatMap((ips) => REASONS.map((reason) => sessionStatus(current, ips, reason)));
    expect(new Set(statuses)).toEqual(new Set([current]));
  });
});

describe('the status of an address on a resource', () => {
  const withRules = RULE_LISTS.filter((rules) => rules.length > 0);
  const all = (rules: readonly HeldRule[], holds: (rule: HeldRule) => boolean): boolean => rules.every(holds);
  const present = (rule: HeldRule): boolean => rule.state === 'present';
  const gone = (rule: HeldRule): boolean => rule.state === 'absent' || rule.keptByOthers;

  const distinct = (
    current: ResourceIpStatus,
    lists: readonly HeldRule[][],
    failed: boolean,
  ): Set<ResourceIpStatus> => new Set(lists.map((rules) => resourceIpStatus(current, rules, failed)));

  it('PENDING becomes APPLIED once all its rules were seen', () => {
    expect(
      distinct(
        'PENDING',
        withRules.filter((rules) => all(rules, present)),
        false,
      ),
    ).toEqual(new Set(['APPLIED']));
  });

  it('PENDING stays while one of its rules was not', () => {
    expect(
      distinct(
        'PENDING',
        withRules.filter((rules) => !all(rules, present)),
        false,
      ),
    ).toEqual(new Set(['PENDING']));
  });

  it('PENDING becomes FAILED once adding was given up, whatever stands', () => {
    expect(distinct('PENDING', RULE_LISTS, true)).toEqual(new Set(['FAILED']));
  });

  it.each([false, true])(
    'REMOVING becomes REMOVED once all its rules are gone or kept by others (failed: %s)',
    (failed) => {
      expect(
        distinct(
          'REMOVING',
          RULE_LISTS.filter((rules) => all(rules, gone)),
          failed,
        ),
      ).toEqual(new Set(['REMOVED']));
    },
  );

  it.each([false, true])(
    'REMOVING stays while one of its rules stands or may stand (failed: %s)',
    (failed) => {
      expect(
        distinct(
          'REMOVING',
          RULE_LISTS.filter((rules) => !all(rules, gone)),
          failed,
        ),
      ).toEqual(new Set(['REMOVING']));
    },
  );

  it.each(['APPLIED', 'FAILED', 'REMOVED'] as const)('%s does not follow from its rules', (current) => {
    expect(distinct(current, RULE_LISTS, false)).toEqual(new Set([current]));
    expect(distinct(current, RULE_LISTS, true)).toEqual(new Set([current]));
  });
});

describe('where addresses move after a pass', () => {
  const rule = (state: RuleState, more: Partial<SettledRule> = {}): SettledRule => ({
    ruleId: 'rule',
    state,
    providerRuleId: 'sgr-1',
    lastError: null,
    keepers: new Set(),
    waiting: new Set(),
    ...more,
  });
  const ip = (id: string, status: ResourceIpStatus, ...rules: SettledRule[]): SettledIp => ({
    id,
    status,
    overdue: false,
    rules,
  });
  const movesOf = (
    ips: readonly SettledIp[],
    failed: readonly string[] = [],
    looked = true,
  ): Record<string, ResourceIpStatus> =>
    Object.fromEntries(
      resourceIpMoves(ips, new Set(failed), looked).map(({ ip: { id }, move }) => [id, move.to]),
    );

  it('one that waits is APPLIED with the ids of all its rules, and only after the target was read', () => {
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
    ['a live holder keeps', { keepers: new Set(['b']) }, true],
    ['another holder waits for', { waiting: new Set(['b']) }, true],
    ['no other holder keeps', {}, false],
    ['it alone is named as keeper of', { keepers: new Set(['a']), waiting: new Set(['a']) }, false],
  ])('one that is released and whose rule is present: %s', (_, more, isRemoved) => {
    expect(movesOf([ip('a', 'REMOVING', rule('present', more))])).toEqual(isRemoved ? { a: 'REMOVED' } : {});
  });

  it('one that is released is not kept by holders that fail in the same pass', () => {
    const shared = rule('unknown', { waiting: new Set(['b']) });
    const ips = [ip('a', 'REMOVING', shared), ip('b', 'PENDING', shared)];
    expect(movesOf(ips)).toEqual({ a: 'REMOVED' });
    expect(movesOf(ips, ['rule'])).toEqual({ b: 'FAILED' });
  });

  it('one that has waited for too long fails in the provider’s words, and only for what is missing', () => {
    const missing = rule('unknown', { lastError: 'slow down' });
    const waits = { ...ip('a', 'PENDING', missing), overdue: true };
    expect(resourceIpMoves([waits], new Set(), false)).toMatchObject([
      { move: { to: 'FAILED', errorMessage: 'slow down' } },
    ]);
    expect(movesOf([{ ...ip('a', 'PENDING', rule('present')), overdue: true }])).toEqual({ a: 'APPLIED' });
  });
});

describe('the moves', () => {
  it('of a session end in FAILED, EXPIRED and CANCELLED', () => {
    const ends = SESSION_STATUSES.filter((status) => SESSION_MOVES[status].length === 0);
    expect(ends).toEqual(['FAILED', 'EXPIRED', 'CANCELLED']);
  });

  it('of an address end in FAILED and REMOVED', () => {
    const ends = RESOURCE_IP_STATUSES.filter((status) => RESOURCE_IP_MOVES[status].length === 0);
    expect(ends).toEqual(['FAILED', 'REMOVED']);
  });

  it('let a live session, and no other, begin to end', () => {
    const ending = SESSION_STATUSES.filter((status) => SESSION_MOVES[status].includes('EXPIRING'));
    expect(ending).toEqual([...LIVE_SESSION_STATUSES]);
  });

  it('let an address that holds its rules, and no other, begin to go', () => {
    const going = RESOURCE_IP_STATUSES.filter((status) => RESOURCE_IP_MOVES[status].includes('REMOVING'));
    expect(going).toEqual([...HOLDING_STATUSES]);
  });

  /** A resource that moves takes its addresses back to PENDING: the one way back there is. */
  const ONE_WAY = { ...RESOURCE_IP_MOVES, APPLIED: ['REMOVING'] } as const;

  /** A suspended rule that is back makes its session whole again. */
  const SESSIONS_ONE_WAY = { ...SESSION_MOVES, PARTIAL: ['FAILED', 'EXPIRING'] } as const;

  it('lead back only when a resource moves, or a suspended rule is back', () => {
    expect(SESSION_MOVES.PARTIAL).toEqual(['ACTIVE', 'FAILED', 'EXPIRING']);
    expect(RESOURCE_IP_MOVES.APPLIED).toEqual(['PENDING', 'REMOVING']);
  });

  /** Every status can be reached from PENDING, and none can be reached again once left. */
  const walk = <S extends string>(
    moves: Readonly<Record<S, readonly S[]>>,
    from: S,
    path: readonly S[] = [],
  ): S[][] => {
    const next = [...path, from];
    return moves[from].length === 0 ? [next] : moves[from].flatMap((to) => walk(moves, to, next));
  };

  it('go one way', () => {
    const paths: string[][] = [
      ...walk<SessionStatus>(SESSIONS_ONE_WAY, 'PENDING'),
      ...walk<ResourceIpStatus>(ONE_WAY, 'PENDING'),
    ];
    expect(paths.filter((path) => new Set(path).size < path.length)).toEqual([]);
    expect(new Set(paths.flat())).toEqual(new Set([...SESSION_STATUSES, ...RESOURCE_IP_STATUSES]));
  });
});

describe('whatever is known, only the listed moves are made', () => {
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

  it('of a session', () => {
    expect(fc.check(sessionProperty(sessionStatus), { numRuns: 2000 })).toMatchObject({ failed: false });
  });

  it('of an address', () => {
    expect(fc.check(addressProperty(resourceIpStatus), { numRuns: 2000 })).toMatchObject({ failed: false });
  });

  it.each<[string, typeof sessionStatus]>([
    ['forgets what it was', (_current, statuses, reason) => sessionStatus('PENDING', statuses, reason)],
    [
      'ends without waiting',
      (current, statuses, reason) =>
        reason ? sessionStatus('EXPIRING', [], reason) : sessionStatus(current, statuses, reason),
    ],
    ['wakes an ended one', (current, statuses) => (statuses.includes('APPLIED') ? 'ACTIVE' : current)],
  ])('a session that %s is caught', (_fault, mutant) => {
    expect(fc.check(sessionProperty(mutant), { numRuns: 20_000 }).failed).toBe(true);
  });

  it.each<[string, typeof resourceIpStatus]>([
    ['forgets what it was', (_current, held, failed) => resourceIpStatus('PENDING', held, failed)],
    [
      'fails after it was applied',
      (current, held, failed) => (failed ? 'FAILED' : resourceIpStatus(current, held, failed)),
    ],
    [
      'skips REMOVING',
      (current, held) => (held.every(({ state }) => state === 'absent') ? 'REMOVED' : current),
    ],
    [
      'comes back when its rule is seen',
      (current, held, failed) =>
        current === 'REMOVED' && held.some(({ state }) => state === 'present')
          ? 'REMOVING'
          : resourceIpStatus(current, held, failed),
    ],
  ])('an address that %s is caught', (_fault, mutant) => {
    expect(fc.check(addressProperty(mutant), { numRuns: 20_000 }).failed).toBe(true);
  });
});
