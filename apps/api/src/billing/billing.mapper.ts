import type { SubscriptionRow } from '#tenant-store';
import type { PlanDto, SubscriptionDto } from './dto/billing.dto';
import type { OfferedPlan, Plan } from '../plans/plans';

export const toPlan = ({ limits, ...plan }: OfferedPlan): PlanDto => ({
  ...plan,
  limits: {
    maxSessionDurationHours: limits.sessionHours,
    maxResources: limits.resources,
    maxUsers: limits.users,
  },
});

/** Uses the price of the subscription, which can differ from the plan's current price. */
export const toSubscription = (row: SubscriptionRow, plan: Plan): SubscriptionDto => ({
  planName: plan.name,
  planDisplayName: plan.displayName,
  tier: plan.tier,
  priceCents: row.priceCents,
  currency: row.currency,
  status: row.status,
  currentPeriodStart: row.currentPeriodStart,
  currentPeriodEnd: row.currentPeriodEnd,
  gracePeriodEnd: row.gracePeriodEnd,
  cancelAtPeriodEnd: row.cancelAtPeriodEnd,
});
