import { HttpStatus } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { PaidPeriod } from '#tenant-store';
import type { ReportedStatus } from '#rules';
import { ApiError } from '../errors';

export interface CheckoutOrder {
  readonly organizationId: string;
  readonly customerEmail: string;
  /** a period that is paid and runs: the new one is paid from its end on */
  readonly paidUntil: Date | null;
}

export interface Checkout {
  /** what the adapter finds the checkout by */
  readonly reference: string;
  /** the page the customer pays on */
  readonly redirectUrl: string;
}

/** Something a payment service tells about a subscription. */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  /** the service's name for the subscription */
  readonly reference: string;
  /** the organization the subscription was opened for; null when it was not opened by us */
  readonly organizationId: string | null;
  readonly payment: {
    readonly reference: string;
    readonly amountCents: number;
    readonly currency: string;
    readonly status: 'SUCCEEDED' | 'FAILED';
  } | null;
}

/** How a subscription stands at its payment service now. */
export interface ReportedSubscription {
  /** null: nothing is decided yet */
  readonly status: ReportedStatus | null;
  readonly period: PaidPeriod;
}

/** The payment service does not answer, or not now: trying again may help. */
export const paymentUnavailable = (): ApiError =>
  new ApiError(HttpStatus.SERVICE_UNAVAILABLE, 'The payment service does not answer, please try again', {
    headers: { 'Retry-After': '5' },
  });

/** The port to whoever takes the money. Also the injection token. Every call may throw `paymentUnavailable()`. */
export abstract class PaymentAdapter {
  /** its name in the database and in the path of its webhooks */
  abstract readonly name: string;

  abstract openCheckout(order: CheckoutOrder): Promise<Checkout>;

  /** Nobody can pay it any more, unless it is paid already. */
  abstract abandonCheckout(reference: string): Promise<void>;

  /** No renewal after the period that is paid. */
  abstract cancelAtPeriodEnd(reference: string): Promise<void>;

  /** Ends the subscription at the service at once; one that is over stays so. */
  abstract end(reference: string): Promise<void>;

  /**
   * @param body as it came, byte for byte
   * @returns null for an event that says nothing about a subscription
   * @throws ApiError 400 when it does not come from the service, 404 when the service sends none
   */
  abstract readEvent(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | null>;

  /** @returns null when the service knows no such subscription */
  abstract readSubscription(reference: string): Promise<ReportedSubscription | null>;
}
