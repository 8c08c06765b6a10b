import type { PaymentRow, SubscriptionRow } from '#tenant-store';
import type { PaymentDto, PlanDto, SubscriptionDto } from './dto/billing.dto';
import type { Plan } from './plans';

export const toPlan = ({ limits, ...plan }: Plan): PlanDto => ({
  ...plan,
  limits: {
    maxSessionDurationHours: limits.sessionHours,
    maxResources: limits.resources,
    maxUsers: limits.users,
  },
});

const textOf = (moment: Date | null): string | null => moment?.toISOString() ?? null;

/** Uses the price of the subscription, which can differ from the plan's current price. */
export const toSubscription = (row: SubscriptionRow, plan: Plan): SubscriptionDto => ({
  planName: plan.name,
  planDisplayName: plan.displayName,
  tier: plan.tier,
  priceCents: row.priceCents,
  currency: row.currency,
  status: row.status,
  currentPeriodStart: textOf(row.currentPeriodStart),
  currentPeriodEnd: textOf(row.currentPeriodEnd),
  gracePeriodEnd: textOf(row.gracePeriodEnd),
  cancelAtPeriodEnd: row.cancelAtPeriodEnd,
});

export const toPayment = (row: PaymentRow): PaymentDto => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
});
