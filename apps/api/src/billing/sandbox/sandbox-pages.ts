import { HttpStatus } from '@nestjs/common';
import type { SubscriptionRow } from '#tenant-store';
import { Markup, type BrowserPage } from '../../pages/browser-page';
import type { Plan } from '../../plans/plans';

/** The data of a page. */
export interface SandboxCheckout {
  /** the last segment of the page's path */
  readonly token: string;
  readonly organizationName: string;
  readonly plan: Plan;
  readonly subscription: SubscriptionRow;
}

const NOTE = Markup.of`<p class="note">This is a sandbox: no money moves.</p>`;

/** For an unknown token, or one whose checkout was replaced. */
export const UNKNOWN_CHECKOUT: BrowserPage = {
  status: HttpStatus.NOT_FOUND,
  title: 'Nothing to pay here',
  body: Markup.of`<p>This payment page does not exist, or a newer one took its place. Subscribe again to get another.</p>`,
};

/** The page for the current status of the subscription, with two buttons while it is unpaid. */
export function checkoutPage(checkout: SandboxCheckout): BrowserPage {
  const { subscription } = checkout;
  switch (subscription.status) {
    case 'PENDING':
      return payablePage(checkout, 'Pay for the plan', Markup.of``);
    case 'PAST_DUE':
      return payablePage(
        checkout,
        'Pay for another period',
        Markup.of`<p>The last period is over. The plan stays until ${dayOf(subscription.gracePeriodEnd)}.</p>`,
      );
    case 'ACTIVE':
      return statusPage(
        checkout,
        'Paid',
        Markup.of`<p>Thank you. The plan is active; you may close this page.</p>`,
      );
    case 'CANCELLED':
      return statusPage(
        checkout,
        'Cancelled',
        Markup.of`<p>The plan is cancelled and ends with the period.</p>`,
      );
    case 'EXPIRED':
      return statusPage(
        checkout,
        'Over',
        Markup.of`<p>The plan has ended. Subscribe again to get it back.</p>`,
      );
  }
}

/** After the payment was declined. */
export const declinedPage = (checkout: SandboxCheckout): BrowserPage => ({
  ...payablePage(
    checkout,
    'Declined',
    Markup.of`<p>The payment was declined. Nothing was paid; you may try again.</p>`,
  ),
});

/** For a button of an outdated page: nothing is left to pay. */
export const refusedPage = (checkout: SandboxCheckout): BrowserPage => ({
  ...checkoutPage(checkout),
  status: HttpStatus.CONFLICT,
});

function payablePage(checkout: SandboxCheckout, title: string, message: Markup): BrowserPage {
  // relative to the page's address, so that a proxy may serve it under any path
  const buttons = Markup.of`
    <form method="post" action="${checkout.token}/confirm"><button type="submit">Pay</button></form>
    <form method="post" action="${checkout.token}/decline"><button type="submit">Decline</button></form>`;
  return statusPage(checkout, title, Markup.of`${message}${buttons}`);
}

function statusPage(
  { organizationName, plan, subscription }: SandboxCheckout,
  title: string,
  message: Markup,
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
    ${message}
    ${NOTE}`;
  return { status: HttpStatus.OK, title, body };
}

const dayOf = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? '';
