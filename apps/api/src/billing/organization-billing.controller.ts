import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { BillingDetailsDto, ChangeBillingDetailsDto } from './dto/organization-billing.dto';
import { OrganizationBillingService } from './organization-billing.service';

@ApiTags('Organization')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization/billing')
export class OrganizationBillingController {
  constructor(private readonly details: OrganizationBillingService) {}

  @Get()
  @ApiOperation({ summary: 'Who pays, as it stands on invoices; 404 until it is set' })
  @Answers({ 200: BillingDetailsDto, errors: [401, 403, 404] })
  find(@CurrentPrincipal() principal: Principal): Promise<BillingDetailsDto> {
    return this.details.find(principal);
  }

  @Patch()
  @ApiOperation({ summary: 'Set who pays; only what is given changes' })
  @Answers({ 200: BillingDetailsDto, errors: [400, 401, 403, 404] })
  change(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: ChangeBillingDetailsDto,
  ): Promise<BillingDetailsDto> {
    return this.details.change(principal, asked, caller);
  }
}
