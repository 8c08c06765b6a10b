import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { OrganizationRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { EmptyDto } from '../http/empty.dto';
import {
  DeleteOrganizationDto,
  OrganizationDto,
  OrganizationSettingsDto,
  UpdateOrganizationDto,
  UpdateOrganizationSettingsDto,
} from './dto/organization.dto';
import { OrganizationDeletion } from './organization-deletion.service';
import { OrganizationService } from './organization.service';

@ApiTags('Organization')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization')
export class OrganizationController {
  constructor(
    private readonly organization: OrganizationService,
    private readonly deletion: OrganizationDeletion,
  ) {}

  @Get()
  @Operation('Get your organization', { 200: OrganizationDto })
  async find(@CurrentPrincipal() principal: Principal): Promise<OrganizationDto> {
    return toOrganization(await this.organization.find(principal), principal);
  }

  @Patch()
  @Operation('Rename your organization', { 200: OrganizationDto })
  async update(@CurrentActor() actor: Actor, @Body() dto: UpdateOrganizationDto): Promise<OrganizationDto> {
    return toOrganization(await this.organization.update(actor, dto), actor.principal);
  }

  @Post('delete')
  @Operation(
    'Delete your organization',
    { 200: EmptyDto, errors: [409] },
    'For its last active administrator, with MFA. Sessions, static IP rules, keys, trusts and sign-ins end at once; the ' +
      'organization is terminating until its last rule is removed. Audit trail and ledger are kept for their retention.',
  )
  async delete(@CurrentActor() actor: Actor, @Body() dto: DeleteOrganizationDto): Promise<EmptyDto> {
    await this.deletion.deleteOwn(actor, dto);
    return {};
  }

  @Get('settings')
  @Operation('Get your organization’s settings for passwords, MFA and sessions', {
    200: OrganizationSettingsDto,
  })
  settings(@CurrentPrincipal() principal: Principal): Promise<OrganizationSettingsDto> {
    return this.organization.settings(principal);
  }

  @Patch('settings')
  @Operation(
    'Change your organization’s settings for passwords, MFA and sessions',
    { 200: OrganizationSettingsDto, errors: [422] },
    'Omitted fields stay unchanged. The password policy applies to passwords set from now on.',
  )
  updateSettings(
    @CurrentActor() actor: Actor,
    @Body() dto: UpdateOrganizationSettingsDto,
  ): Promise<OrganizationSettingsDto> {
    return this.organization.updateSettings(actor, dto);
  }
}

const toOrganization = (row: OrganizationRow, { tier, lockdown }: Principal): OrganizationDto => ({
  ...row,
  lockdown: lockdown?.scope === 'ORGANIZATION' ? lockdown : null,
  subscriptionTier: tier,
});
