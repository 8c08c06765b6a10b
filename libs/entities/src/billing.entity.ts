import type { SubscriptionStatus } from '#rules';
import { Check, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import {
  Count,
  CreatedAt,
  Flag,
  ForeignId,
  Id,
  Moment,
  SameOrganization,
  Text,
  UpdatedAt,
  Uuid,
} from './columns';
import { OrganizationEntity } from './organization.entity';

/** Billing details as shown on invoices. */
@Entity('billing_details')
export class BillingDetailsEntity {
  @ForeignKey(() => OrganizationEntity, { name: 'billing_details_organization_id_fkey' })
  @PrimaryColumn('uuid')
  organizationId!: string;
  @Text({ nullable: true }) companyName!: string | null;
  @Text({ nullable: true }) billingContactName!: string | null;
  @Text({ nullable: true }) billingEmail!: string | null;
  @Text({ nullable: true }) billingAddressLine1!: string | null;
  @Text({ nullable: true }) billingAddressLine2!: string | null;
  @Text({ nullable: true }) billingCity!: string | null;
  @Text({ nullable: true }) billingPostalCode!: string | null;
  @Text({ nullable: true }) billingState!: string | null;
  @Text({ nullable: true }) billingCountry!: string | null;
  @Text({ nullable: true }) vatNumber!: string | null;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('subscriptions')
@Unique('subscriptions_organization_id_id_key', ['organizationId', 'id'])
@Index('subscriptions_ends_idx', { synchronize: false })
@Index('subscriptions_one_current', ['organizationId'], { unique: true, where: `status <> 'EXPIRED'` })
@Index('subscriptions_adapter_reference_idx', ['adapter', 'adapterReference'])
@Index('subscriptions_checkout_reference_idx', ['adapter', 'checkoutReference'])
@Check('subscriptions_status_check', `status IN ('PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELLED', 'EXPIRED')`)
export class SubscriptionEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'subscriptions_organization_id_fkey') organizationId!: string;
  @Uuid() planId!: string;
  @Text({ default: 'PENDING' }) status!: SubscriptionStatus;
  @Count() priceCents!: number;
  @Text() currency!: string;
  @Moment({ nullable: true }) currentPeriodStart!: Date | null;
  @Moment({ nullable: true }) currentPeriodEnd!: Date | null;
  @Moment({ nullable: true }) gracePeriodEnd!: Date | null;
  @Flag({ default: false }) cancelAtPeriodEnd!: boolean;
  /** its payment adapter: `sandbox`, `stripe` */
  @Text() adapter!: string;
  /** the adapter's id of the open checkout; for the sandbox, where the id is a secret, its hash */
  @Text({ nullable: true }) checkoutReference!: string | null;
  /** the adapter's id of the subscription, once there is one */
  @Text({ nullable: true }) adapterReference!: string | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('payments')
@Index('payments_organization_id_idx', ['organizationId', 'createdAt'])
@Check('payments_status_check', `status IN ('SUCCEEDED', 'FAILED')`)
@SameOrganization(() => SubscriptionEntity, 'subscriptionId', 'payments_subscription_fkey')
export class PaymentEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() subscriptionId!: string;
  @Count() amountCents!: number;
  @Text() currency!: string;
  @Text() status!: 'SUCCEEDED' | 'FAILED';
  @Text({ nullable: true }) adapterReference!: string | null;
  @CreatedAt() createdAt!: Date;
}

/** Processed events of payment adapters, so that each is applied once. */
@Entity('payment_events')
@Index('payment_events_created_at_idx', ['createdAt'])
export class PaymentEventEntity {
  @PrimaryColumn('text') adapter!: string;
  @PrimaryColumn('text') eventId!: string;
  @CreatedAt() createdAt!: Date;
}
