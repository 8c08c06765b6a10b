import {
  cancelledStatus,
  followingMoves,
  isPaidFor,
  REPORTED_STATUSES,
  SUBSCRIPTION_MOVES,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from './subscription';

const mayMove = (from: SubscriptionStatus, to: SubscriptionStatus): boolean =>
  SUBSCRIPTION_MOVES[from].includes(to);

describe('SUBSCRIPTION_MOVES', () => {
  it('leave every status except EXPIRED, and reach every status', () => {
    const ends = SUBSCRIPTION_STATUSES.filter((status) => SUBSCRIPTION_MOVES[status].length === 0);
    expect(ends).toEqual(['EXPIRED']);
    const reached = new Set(SUBSCRIPTION_STATUSES.flatMap((status) => SUBSCRIPTION_MOVES[status]));
    expect(reached).toEqual(new Set(SUBSCRIPTION_STATUSES));
  });

  it.each([
    ['PENDING', true],
    ['ACTIVE', false],
    ['PAST_DUE', true],
    ['CANCELLED', true],
    ['EXPIRED', false],
  ] as const)('%s: a new checkout may be opened: %s', (status, allowed) => {
    expect(mayMove(status, 'PENDING')).toBe(allowed);
  });
});

describe('followingMoves', () => {
  it.each([
    ['PENDING', 'ACTIVE', 'ACTIVE'],
    ['PENDING', 'CANCELLED', ''],
    ['PENDING', 'PAST_DUE', ''],
    ['PENDING', 'EXPIRED', 'EXPIRED'],
    ['ACTIVE', 'ACTIVE', 'ACTIVE'],
    ['ACTIVE', 'CANCELLED', 'CANCELLED'],
    ['ACTIVE', 'PAST_DUE', 'PAST_DUE'],
    ['ACTIVE', 'EXPIRED', 'EXPIRED'],
    ['PAST_DUE', 'ACTIVE', 'ACTIVE'],
    ['PAST_DUE', 'CANCELLED', 'ACTIVE CANCELLED'],
    ['PAST_DUE', 'PAST_DUE', ''],
    ['PAST_DUE', 'EXPIRED', 'EXPIRED'],
    ['CANCELLED', 'ACTIVE', 'ACTIVE'],
    ['CANCELLED', 'CANCELLED', ''],
    ['CANCELLED', 'PAST_DUE', ''],
    ['CANCELLED', 'EXPIRED', 'EXPIRED'],
    ['EXPIRED', 'ACTIVE', ''],
    ['EXPIRED', 'CANCELLED', ''],
    ['EXPIRED', 'PAST_DUE', ''],
    ['EXPIRED', 'EXPIRED', ''],
  ] as const)('%s, reported %s: %s', (current, reported, moves) => {
    const steps = followingMoves(current, reported);
    expect(steps.join(' ')).toBe(moves);
    for (const [index, step] of steps.entries())
      expect(mayMove(steps[index - 1] ?? current, step)).toBe(true);
  });

  it('isPaidFor is true for paid statuses only', () => {
    expect(REPORTED_STATUSES.filter(isPaidFor)).toEqual(['ACTIVE', 'CANCELLED']);
  });
});

describe('cancelledStatus', () => {
  it.each([
    ['PENDING', false, 'EXPIRED'],
    ['PENDING', true, 'CANCELLED'],
    ['ACTIVE', true, 'CANCELLED'],
    ['ACTIVE', false, 'EXPIRED'],
    ['PAST_DUE', false, 'EXPIRED'],
    ['PAST_DUE', true, 'EXPIRED'],
  ] as const)('of %s, with a period that runs: %s, leads to %s', (status, runs, expected) => {
    expect(cancelledStatus(status, runs)).toBe(expected);
    expect(SUBSCRIPTION_MOVES[status]).toContain(expected);
  });
});
