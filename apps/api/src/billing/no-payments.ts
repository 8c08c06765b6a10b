import { doesNotBill } from '../plans/plans';
import { PaymentAdapter } from './payment-adapter';

/** No payment service: nothing is sold, and no subscription is this adapter's. */
export class NoPayments extends PaymentAdapter {
  override readonly name = 'none';
  override readonly openCheckout = refuse;
  override readonly abandonCheckout = refuse;
  override readonly cancelAtPeriodEnd = refuse;
  override readonly end = refuse;
  override readonly readEvent = refuse;
  override readonly readSubscription = refuse;
}

function refuse(): Promise<never> {
  return Promise.reject(doesNotBill());
}
