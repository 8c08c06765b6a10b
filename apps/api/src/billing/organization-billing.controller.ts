import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BillingDetailsDto, ChangeBillingDetailsDto } from './dto/organization-billing.dto';
import { OrganizationBillingService } from './organization-billing.service';

@ApiTags('Organization')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization/billing')
export class OrganizationBillingController {
  constructor(private readonly details: OrganizationBillingService) {}

  @Get()
  @Operation('Get the billing details for invoices; 404 until they are set', {
    200: BillingDetailsDto,
    errors: [404],
  })
  find(@CurrentPrincipal() principal: Principal): Promise<BillingDetailsDto> {
    return this.details.find(principal);
  }

  @Patch()
  @Operation('Change the billing details; omitted fields stay unchanged', {
    200: BillingDetailsDto,
    errors: [404],
  })
  change(@CurrentActor() actor: Actor, @Body() dto: ChangeBillingDetailsDto): Promise<BillingDetailsDto> {
    return this.details.change(actor, dto);
  }
}
