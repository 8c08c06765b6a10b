import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { AuditStore, type BillingDetails, BillingStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { notFound } from '../errors';
import type { ChangeBillingDetailsDto } from './dto/organization-billing.dto';

/** What an invoice cannot do without. */
const REQUIRED = [
  'companyName',
  'billingEmail',
  'billingAddressLine1',
  'billingCity',
  'billingPostalCode',
  'billingCountry',
] as const satisfies readonly (keyof BillingDetails)[];

/** The fields that have to be set before anything can be subscribed to. */
export const missingDetails = (details: BillingDetails | null): string[] =>
  REQUIRED.filter((field) => !details?.[field]);

@Injectable()
export class OrganizationBillingService {
  constructor(
    private readonly database: Database,
    private readonly billing: BillingStore,
    private readonly audit: AuditStore,
  ) {}

  async find({ organizationId }: Principal): Promise<BillingDetails> {
    const details = await this.billing.details(this.database.autocommit, organizationId);
    if (!details)
      throw notFound('There are no billing details yet: set them with PATCH /organization/billing');
    return details;
  }

  /** The trail names the fields, not what was written into them: it outlives the people they speak of. */
  change(
    principal: Principal,
    asked: ChangeBillingDetailsDto,
    caller: HostAddress | null,
  ): Promise<BillingDetails> {
    const { organizationId } = principal;
    const fields = Object.entries(asked).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    if (fields.length === 0) return this.find(principal);
    return this.database.transaction(async (tx) => {
      const details = await this.billing.changeDetails(tx, organizationId, asked);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'BILLING_DETAILS_UPDATED',
        resourceType: 'ORGANIZATION',
        resourceId: organizationId,
        resourceName: principal.organizationName,
        details: { fields },
      });
      return details;
    });
  }
}
