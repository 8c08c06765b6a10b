/** Statuses of a subscription and the only moves between them: every UPDATE names the status it expects from here. */
export const SUBSCRIPTION_STATUSES = ['PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const PLAN_INTERVALS = ['MONTH', 'YEAR'] as const;
export type PlanInterval = (typeof PLAN_INTERVALS)[number];

/** How long the Paid plan stays after a renewal that was not paid. */
export const GRACE_DAYS = 7;

export const SUBSCRIPTION_MOVES: Readonly<Record<SubscriptionStatus, readonly SubscriptionStatus[]>> = {
  // to itself: another checkout takes the place of the open one; to CANCELLED: a renewed one is given up again
  PENDING: ['PENDING', 'ACTIVE', 'CANCELLED', 'EXPIRED'],
  // to itself: another period is paid
  ACTIVE: ['ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED'],
  PAST_DUE: ['PENDING', 'ACTIVE', 'EXPIRED'],
  CANCELLED: ['PENDING', 'ACTIVE', 'EXPIRED'],
  EXPIRED: [],
};

/** A subscription in one of these waits for a payment, which the page of its checkout takes. */
export const PAYABLE_STATUSES = ['PENDING', 'PAST_DUE'] as const satisfies readonly SubscriptionStatus[];

/** What a payment service says of a subscription it renews by itself. */
export const REPORTED_STATUSES = ['ACTIVE', 'CANCELLED', 'PAST_DUE', 'EXPIRED'] as const;
export type ReportedStatus = (typeof REPORTED_STATUSES)[number];

type Following = Readonly<Record<ReportedStatus, readonly SubscriptionStatus[]>>;

const FOLLOWING: Readonly<Record<SubscriptionStatus, Following>> = {
  // a new checkout is open: what was cancelled or unpaid before it says nothing about it
  PENDING: { ACTIVE: ['ACTIVE'], CANCELLED: [], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  ACTIVE: { ACTIVE: ['ACTIVE'], CANCELLED: ['CANCELLED'], PAST_DUE: ['PAST_DUE'], EXPIRED: ['EXPIRED'] },
  PAST_DUE: { ACTIVE: ['ACTIVE'], CANCELLED: ['ACTIVE', 'CANCELLED'], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  CANCELLED: { ACTIVE: ['ACTIVE'], CANCELLED: [], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  EXPIRED: { ACTIVE: [], CANCELLED: [], PAST_DUE: [], EXPIRED: [] },
};

/**
 * The moves that bring our subscription to what its payment service says of it.
 * @param current its status here
 * @returns the statuses to go through, in order; none when nothing follows
 */
export const followingMoves = (
  current: SubscriptionStatus,
  reported: ReportedStatus,
): readonly SubscriptionStatus[] => FOLLOWING[current][reported];

/** Somebody paid for it and it runs: it takes the place of a checkout that is open, or of one that ended. */
export const isPaidFor = (reported: ReportedStatus): boolean =>
  reported === 'ACTIVE' || reported === 'CANCELLED';

/**
 * What a cancellation leads to: what is paid for is used up, all else ends at once.
 * @param periodRuns whether the period that was paid is still running
 */
export const cancelledStatus = (current: SubscriptionStatus, periodRuns: boolean): 'CANCELLED' | 'EXPIRED' =>
  periodRuns && current !== 'PAST_DUE' ? 'CANCELLED' : 'EXPIRED';
