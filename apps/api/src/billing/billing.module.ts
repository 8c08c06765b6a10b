import { Logger, Module } from '@nestjs/common';
import { ApiSettings } from '../api.settings';
import { PublicAddress } from '../http/public-address';
import { BillingController } from './billing.controller';
import { BillingService } from './billing.service';
import { OrganizationBillingController } from './organization-billing.controller';
import { NoPayments } from './no-payments';
import { OrganizationBillingService } from './organization-billing.service';
import { PaymentAdapter } from './payment-adapter';
import { PaymentEvents } from './payment-events.service';
import { PaymentWebhookController } from './payment-webhook.controller';
import { ReturnPageController } from './return-page.controller';
import { SandboxCheckouts } from './sandbox/sandbox-checkouts';
import { SandboxPageController } from './sandbox/sandbox-page.controller';
import { SandboxPayments } from './sandbox/sandbox.adapter';
import { StripePayments } from './stripe/stripe.adapter';
import { SubscriptionRecords } from './subscription-records';

function paymentAdapter(settings: ApiSettings, address: PublicAddress): PaymentAdapter {
  if (settings.PAYMENT === 'stripe') return new StripePayments(settings, address);
  if (settings.PAYMENT === 'none') return new NoPayments();
  if (!settings.EMBEDDED) {
    new Logger('Billing').warn(
      'PAYMENT is sandbox: every organization can take the Paid plan without paying. Set PAYMENT=stripe to be paid.',
    );
  }
  return new SandboxPayments(address);
}

@Module({
  controllers: [
    BillingController,
    PaymentWebhookController,
    OrganizationBillingController,
    SandboxPageController,
    ReturnPageController,
  ],
  providers: [
    { provide: PaymentAdapter, inject: [ApiSettings, PublicAddress], useFactory: paymentAdapter },
    BillingService,
    OrganizationBillingService,
    PaymentEvents,
    SubscriptionRecords,
    SandboxCheckouts,
  ],
  exports: [BillingService],
})
export class BillingModule {}
