import { Injectable } from '@nestjs/common';
import { type Scope, scopeNeedsPaidPlan } from '#guards';
import { TIER_LIMITS, type PlanInterval, type Tier, type TierLimits, type TierOf } from '#rules';
import { ApiSettings } from '../api.settings';
import { badRequest, forbidden, type ApiError } from '../errors';

interface Price {
  readonly priceCents: number;
  readonly currency: string;
  readonly interval: PlanInterval;
}

export interface Plan extends Price {
  readonly id: string;
  readonly name: Tier;
  readonly displayName: string;
  readonly tier: Tier;
  readonly limits: TierLimits;
}

/** A plan as it is listed: without a price where nothing is billed. */
export type OfferedPlan = Omit<Plan, keyof Price> & (Price | Record<keyof Price, null>);

// stored in subscriptions: never change them
const FREE_PLAN_ID = '5c0f2a4e-8d31-4c7b-9a66-0e1f3b7d9a01';
const PAID_PLAN_ID = 'b7e94d12-3f58-4a0c-8b1d-6a2c5e8f7b02';

/** The plans of this deployment, and which one an organization has. The price is configurable. */
@Injectable()
export class Plans {
  readonly free: Plan;
  readonly paid: Plan;
  readonly bills: boolean;
  /** what lifts the limits of the Free plan: the end of a sentence */
  readonly subscribing: string;

  constructor(settings: ApiSettings) {
    const currency = settings.PAID_PLAN_CURRENCY;
    const interval = settings.PAID_PLAN_INTERVAL;
    this.bills = settings.PAYMENT !== 'none';
    this.subscribing =
      'subscribe with POST /billing/subscribe (drawbridge billing subscribe)' +
      (settings.PAYMENT === 'stripe' ? '' : '. Payment is a sandbox here: it takes no money');
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

  /** The tier that counts for an organization. @param paidFor its stored one */
  readonly tierOf: TierOf = (paidFor) => (this.bills ? paidFor : 'PAID');

  /** by name */
  get offered(): readonly OfferedPlan[] {
    if (this.bills) return [this.free, this.paid];
    return [{ ...this.paid, priceCents: null, currency: null, interval: null }];
  }

  /** @param what has these scopes, in plural @throws ApiError 403 for those that need the Paid plan */
  refuseBeyond(tier: Tier, what: string, scopes: readonly Scope[]): void {
    const beyond = scopes.filter((scope) => scopeNeedsPaidPlan(scope));
    if (tier === 'FREE' && beyond.length > 0)
      throw forbidden(`${what} with ${beyond.join(', ')} need the Paid plan: ${this.subscribing}`);
  }

  find(id: string): Plan | null {
    return [this.free, this.paid].find((plan) => plan.id === id.toLowerCase()) ?? null;
  }

  /** @throws ApiError 400 where nothing is billed */
  requireBilling(): void {
    if (!this.bills) throw doesNotBill();
  }
}

export const doesNotBill = (): ApiError => badRequest('This deployment does not bill');
