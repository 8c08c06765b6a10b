import { notFound } from '../../errors';
import type { PublicAddress } from '../../http/public-address';
import { newOpaqueToken } from '#secrets';
import {
  PaymentAdapter,
  type Checkout,
  type PaymentEvent,
  type ReportedSubscription,
} from '../payment-adapter';

export const SANDBOX = 'sandbox';
export const SANDBOX_PATH = '/billing/sandbox';

/** Simulated payments: the checkout page belongs to this service, and anyone with its address can press Pay. */
export class SandboxPayments extends PaymentAdapter {
  override readonly name = SANDBOX;

  constructor(private readonly address: PublicAddress) {
    super();
  }

  override openCheckout(): Promise<Checkout> {
    const { plainText, hash } = newOpaqueToken();
    const redirectUrl = this.address.of(`${SANDBOX_PATH}/${plainText}`);
    return Promise.resolve({ reference: hash, redirectUrl });
  }

  // Sandbox checkouts and subscriptions exist only as the subscription's row.
  override abandonCheckout(): Promise<void> {
    return Promise.resolve();
  }

  override cancelAtPeriodEnd(): Promise<void> {
    return Promise.resolve();
  }

  override end(): Promise<void> {
    return Promise.resolve();
  }

  override readEvent(): Promise<PaymentEvent | null> {
    return Promise.reject(notFound('The sandbox sends no events: payments are made on its page'));
  }

  override readSubscription(): Promise<ReportedSubscription | null> {
    return Promise.resolve(null);
  }
}
