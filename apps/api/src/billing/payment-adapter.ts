import { HttpStatus } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { PaidPeriod } from '#tenant-store';
import type { ReportedStatus } from '#rules';
import { ApiError } from '../errors';

export interface CheckoutOrder {
  readonly organizationId: string;
  readonly customerEmail: string;
  /** the end of the current paid period, when the new one starts; null: none */
  readonly paidUntil: Date | null;
}

export interface Checkout {
  /** identifies the checkout at the payment service */
  readonly reference: string;
  /** the page the customer pays on */
  readonly redirectUrl: string;
}

/** A payment service's event about a subscription. */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  /** identifies the subscription at the payment service */
  readonly reference: string;
  /** the organization of the subscription; null when this service did not create it */
  readonly organizationId: string | null;
  readonly payment: {
    readonly reference: string;
    readonly amountCents: number;
    readonly currency: string;
    readonly status: 'SUCCEEDED' | 'FAILED';
  } | null;
}

/** The current state of a subscription at its payment service. */
export interface ReportedSubscription {
  /** null: undecided */
  readonly status: ReportedStatus | null;
  readonly period: PaidPeriod;
}

/** 503: the payment service is temporarily unavailable. */
export const paymentUnavailable = (): ApiError =>
  new ApiError(HttpStatus.SERVICE_UNAVAILABLE, 'The payment service does not answer, please try again', {
    headers: { 'Retry-After': '5' },
  });

/** The port to the payment service. Also the injection token. Every call may throw `paymentUnavailable()`. */
export abstract class PaymentAdapter {
  /** its name in the database and in the path of its webhooks */
  abstract readonly name: string;

  abstract openCheckout(order: CheckoutOrder): Promise<Checkout>;

  /** Expires an unpaid checkout. */
  abstract abandonCheckout(reference: string): Promise<void>;

  /** Prevents the renewal after the paid period. */
  abstract cancelAtPeriodEnd(reference: string): Promise<void>;

  /** Ends the subscription at the service immediately. Idempotent. */
  abstract end(reference: string): Promise<void>;

  /**
   * @param body the raw bytes
   * @returns null for an event that is not about a subscription
   * @throws ApiError 400 when it does not come from the service, 404 when the service sends no events
   */
  abstract readEvent(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | null>;

  /** @returns null when the subscription does not exist */
  abstract readSubscription(reference: string): Promise<ReportedSubscription | null>;
}
