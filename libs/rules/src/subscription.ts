/** Statuses of a subscription and their allowed transitions. Every UPDATE checks the expected status. */
export const SUBSCRIPTION_STATUSES = ['PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const PLAN_INTERVALS = ['MONTH', 'YEAR'] as const;
export type PlanInterval = (typeof PLAN_INTERVALS)[number];

/** How long the Paid plan stays active after an unpaid renewal. */
export const GRACE_DAYS = 7;

export const SUBSCRIPTION_MOVES: Readonly<Record<SubscriptionStatus, readonly SubscriptionStatus[]>> = {
  // to itself: a new checkout replaces the open one; to CANCELLED: a renewal is given up
  PENDING: ['PENDING', 'ACTIVE', 'CANCELLED', 'EXPIRED'],
  // to itself: a further period is paid
  ACTIVE: ['ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED'],
  PAST_DUE: ['PENDING', 'ACTIVE', 'EXPIRED'],
  CANCELLED: ['PENDING', 'ACTIVE', 'EXPIRED'],
  EXPIRED: [],
};

/** Statuses that wait for a payment through a checkout page. */
export const PAYABLE_STATUSES = ['PENDING', 'PAST_DUE'] as const satisfies readonly SubscriptionStatus[];

/** Statuses reported by a payment service for a subscription that it renews. */
export const REPORTED_STATUSES = ['ACTIVE', 'CANCELLED', 'PAST_DUE', 'EXPIRED'] as const;
export type ReportedStatus = (typeof REPORTED_STATUSES)[number];

type Following = Readonly<Record<ReportedStatus, readonly SubscriptionStatus[]>>;

const FOLLOWING: Readonly<Record<SubscriptionStatus, Following>> = {
  // a new checkout is open: an earlier cancellation or unpaid renewal does not apply to it
  PENDING: { ACTIVE: ['ACTIVE'], CANCELLED: [], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  ACTIVE: { ACTIVE: ['ACTIVE'], CANCELLED: ['CANCELLED'], PAST_DUE: ['PAST_DUE'], EXPIRED: ['EXPIRED'] },
  PAST_DUE: { ACTIVE: ['ACTIVE'], CANCELLED: ['ACTIVE', 'CANCELLED'], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  CANCELLED: { ACTIVE: ['ACTIVE'], CANCELLED: [], PAST_DUE: [], EXPIRED: ['EXPIRED'] },
  EXPIRED: { ACTIVE: [], CANCELLED: [], PAST_DUE: [], EXPIRED: [] },
};

/**
 * The transitions from our status to the reported one.
 * @returns the statuses to go through, in order; empty when nothing changes
 */
export const followingMoves = (
  current: SubscriptionStatus,
  reported: ReportedStatus,
): readonly SubscriptionStatus[] => FOLLOWING[current][reported];

/** The subscription is paid and running: it replaces an open or ended checkout. */
export const isPaidFor = (reported: ReportedStatus): boolean =>
  reported === 'ACTIVE' || reported === 'CANCELLED';

/**
 * The status after a cancellation: a paid period runs to its end, everything else ends at once.
 * @param periodRuns the paid period has not ended
 */
export const cancelledStatus = (current: SubscriptionStatus, periodRuns: boolean): 'CANCELLED' | 'EXPIRED' =>
  periodRuns && current !== 'PAST_DUE' ? 'CANCELLED' : 'EXPIRED';
