import { Injectable } from '@nestjs/common';
import { TIER_LIMITS, type PlanInterval, type Tier, type TierLimits } from '#rules';
import { ApiSettings } from '../api.settings';

export interface Plan {
  readonly id: string;
  readonly name: Tier;
  readonly displayName: string;
  readonly tier: Tier;
  readonly priceCents: number;
  readonly currency: string;
  readonly interval: PlanInterval;
  readonly limits: TierLimits;
}

// stored in subscriptions: never change them
const FREE_PLAN_ID = '5c0f2a4e-8d31-4c7b-9a66-0e1f3b7d9a01';
const PAID_PLAN_ID = 'b7e94d12-3f58-4a0c-8b1d-6a2c5e8f7b02';

/** The plans of this deployment. The price is configurable. */
@Injectable()
export class Plans {
  readonly free: Plan;
  readonly paid: Plan;

  constructor(settings: ApiSettings) {
    const currency = settings.PAID_PLAN_CURRENCY;
    const interval = settings.PAID_PLAN_INTERVAL;
    this.free = {
      id: FREE_PLAN_ID,
      name: 'FREE',
      displayName: 'Free',
      tier: 'FREE',
      priceCents: 0,
      currency,
      interval,
      limits: TIER_LIMITS.FREE,
    };
    this.paid = {
      id: PAID_PLAN_ID,
      name: 'PAID',
      displayName: 'Paid',
      tier: 'PAID',
      priceCents: settings.PAID_PLAN_PRICE_CENTS,
      currency,
      interval,
      limits: TIER_LIMITS.PAID,
    };
  }

  /** by name */
  get all(): readonly Plan[] {
    return [this.free, this.paid];
  }

  find(id: string): Plan | null {
    return this.all.find((plan) => plan.id === id.toLowerCase()) ?? null;
  }
}
