import { HttpStatus } from '@nestjs/common';
import type { SubscriptionRow } from '#tenant-store';
import { Markup, type BrowserPage } from '../../pages/browser-page';
import type { Plan } from '../plans';

/** What a page is about. */
export interface SandboxCheckout {
  /** the last part of the page's address */
  readonly token: string;
  readonly organizationName: string;
  readonly plan: Plan;
  readonly subscription: SubscriptionRow;
}

const NOTE = Markup.of`<p class="note">This is a sandbox: no money moves.</p>`;

/** For an address that was never given out, or whose place another one took. */
export const UNKNOWN_CHECKOUT: BrowserPage = {
  status: HttpStatus.NOT_FOUND,
  title: 'Nothing to pay here',
  body: Markup.of`<p>This payment page does not exist, or a newer one took its place. Subscribe again to get another.</p>`,
};

/** The page as the subscription stands; two buttons while a payment is awaited. */
export function checkoutPage(checkout: SandboxCheckout): BrowserPage {
  const { subscription } = checkout;
  switch (subscription.status) {
    case 'PENDING':
      return awaited(checkout, 'Pay for the plan', Markup.of``);
    case 'PAST_DUE':
      return awaited(
        checkout,
        'Pay for another period',
        Markup.of`<p>The last period is over. The plan stays until ${dayOf(subscription.gracePeriodEnd)}.</p>`,
      );
    case 'ACTIVE':
      return told(
        checkout,
        'Paid',
        Markup.of`<p>Thank you. The plan is active; you may close this page.</p>`,
      );
    case 'CANCELLED':
      return told(checkout, 'Cancelled', Markup.of`<p>The plan is cancelled and ends with the period.</p>`);
    case 'EXPIRED':
      return told(checkout, 'Over', Markup.of`<p>The plan has ended. Subscribe again to get it back.</p>`);
  }
}

/** After the payment was declined. */
export const declinedPage = (checkout: SandboxCheckout): BrowserPage => ({
  ...awaited(
    checkout,
    'Declined',
    Markup.of`<p>The payment was declined. Nothing was paid; you may try again.</p>`,
  ),
});

/** A button of a page that was overtaken: there is nothing to pay any more. */
export const refusedPage = (checkout: SandboxCheckout): BrowserPage => ({
  ...checkoutPage(checkout),
  status: HttpStatus.CONFLICT,
});

function awaited(checkout: SandboxCheckout, title: string, words: Markup): BrowserPage {
  // relative to the page's own address, so that a proxy may serve it under any path
  const buttons = Markup.of`
    <form method="post" action="${checkout.token}/confirm"><button type="submit">Pay</button></form>
    <form method="post" action="${checkout.token}/decline"><button type="submit">Decline</button></form>`;
  return told(checkout, title, Markup.of`${words}${buttons}`);
}

function told(
  { organizationName, plan, subscription }: SandboxCheckout,
  title: string,
  words: Markup,
): BrowserPage {
  const price = `${(subscription.priceCents / 100).toFixed(2)} ${subscription.currency}`;
  const until = subscription.currentPeriodEnd
    ? Markup.of`<dt>Paid until</dt><dd>${dayOf(subscription.currentPeriodEnd)}</dd>`
    : Markup.of``;
  const body = Markup.of`
    <dl>
      <dt>Organization</dt><dd>${organizationName}</dd>
      <dt>Plan</dt><dd>${plan.displayName}</dd>
      <dt>Price</dt><dd>${price} a ${plan.interval.toLowerCase()}</dd>
      ${until}
    </dl>
    ${words}
    ${NOTE}`;
  return { status: HttpStatus.OK, title, body };
}

const dayOf = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? '';
