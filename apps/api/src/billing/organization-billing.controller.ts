import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Tenants } from '#tenant-store';
import { objectNamed, recordAction } from '../audit/action-records';
import { Operation } from '../docs/operation';
import { notFound } from '../errors';
import { CurrentActor, type Actor } from '../http/actor';
import { BillingDetailsDto, ChangeBillingDetailsDto } from './dto/organization-billing.dto';

@ApiTags('Organization')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization/billing')
export class OrganizationBillingController {
  constructor(private readonly stores: Tenants) {}

  @Get()
  @Operation('Get the billing details for invoices; 404 until they are set', {
    200: BillingDetailsDto,
    errors: [404],
  })
  async find(@CurrentPrincipal() { organizationId }: Principal): Promise<BillingDetailsDto> {
    const details = await this.stores.billing.details(this.stores.autocommit, organizationId);
    if (!details)
      throw notFound('There are no billing details yet: set them with PATCH /organization/billing');
    return details;
  }

  /** The audit record lists the changed fields without their values, because it outlives the personal data. */
  @Patch()
  @Operation('Change the billing details; omitted fields stay unchanged', {
    200: BillingDetailsDto,
    errors: [404],
  })
  async change(
    @CurrentActor() actor: Actor,
    @Body() dto: ChangeBillingDetailsDto,
  ): Promise<BillingDetailsDto> {
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
