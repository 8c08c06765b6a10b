import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Answers } from '../docs/answers';
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
  @ApiOperation({ summary: 'Get the billing details for invoices; 404 until they are set' })
  @Answers({ 200: BillingDetailsDto, errors: [401, 403, 404] })
  find(@CurrentPrincipal() principal: Principal): Promise<BillingDetailsDto> {
    return this.details.find(principal);
  }

  @Patch()
  @ApiOperation({ summary: 'Change the billing details; omitted fields stay unchanged' })
  @Answers({ 200: BillingDetailsDto, errors: [400, 401, 403, 404] })
  change(@CurrentActor() actor: Actor, @Body() dto: ChangeBillingDetailsDto): Promise<BillingDetailsDto> {
    return this.details.change(actor, dto);
  }
}
