import { doesNotBill } from '../plans/plans';
import { PaymentAdapter } from './payment-adapter';

/** No payment service: nothing is sold, and no subscription is this adapter's. */
export class NoPayments extends PaymentAdapter {
  override readonly name = 'none';
  override readonly openCheckout = refused;
  override readonly abandonCheckout = refused;
  override readonly cancelAtPeriodEnd = refused;
  override readonly end = refused;
  override readonly readEvent = refused;
  override readonly readSubscription = refused;
}

function refused(): Promise<never> {
  return Promise.reject(doesNotBill());
}
