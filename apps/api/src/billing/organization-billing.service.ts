import { Injectable } from '@nestjs/common';
import { type BillingDetails, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { recordAction, objectNamed } from '../audit/action-records';
import { notFound } from '../errors';
import type { Actor } from '../http/actor';
import type { ChangeBillingDetailsDto } from './dto/organization-billing.dto';

/** Required for invoices. */
const REQUIRED = [
  'companyName',
  'billingEmail',
  'billingAddressLine1',
  'billingCity',
  'billingPostalCode',
  'billingCountry',
] as const satisfies readonly (keyof BillingDetails)[];

/** The required fields that are not set. They must be set before subscribing. */
export const missingDetails = (details: BillingDetails | null): string[] =>
  REQUIRED.filter((field) => !details?.[field]);

@Injectable()
export class OrganizationBillingService {
  constructor(private readonly stores: Tenants) {}

  async find({ organizationId }: Principal): Promise<BillingDetails> {
    const details = await this.stores.billing.details(this.stores.autocommit, organizationId);
    if (!details)
      throw notFound('There are no billing details yet: set them with PATCH /organization/billing');
    return details;
  }

  /** The audit record lists the changed fields without their values, because it outlives the personal data. */
  change(actor: Actor, dto: ChangeBillingDetailsDto): Promise<BillingDetails> {
    const { principal } = actor;
    const { organizationId } = principal;
    const fields = Object.entries(dto).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    if (fields.length === 0) return this.find(principal);
    return this.stores.transaction(async (tx) => {
      const details = await this.stores.billing.changeDetails(tx, organizationId, dto);
      await recordAction(
        tx,
        actor,
        'BILLING_DETAILS_UPDATED',
        objectNamed('ORGANIZATION', { id: organizationId, name: principal.organizationName }),
        { fields },
      );
      return details;
    });
  }
}
