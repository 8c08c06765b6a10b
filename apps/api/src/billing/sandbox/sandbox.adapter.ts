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

/** No money: the page of the checkout is this service's own, and whoever has its address pays with a button. */
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

  // The subscription's row is all there is of a sandbox checkout and a sandbox subscription.
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
