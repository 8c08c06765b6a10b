import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { OrganizationRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { EmptyDto } from '../http/empty.dto';
import { SsoAddresses } from '../sso/sso-addresses';
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
    private readonly addresses: SsoAddresses,
  ) {}

  @Get()
  @Operation('Get your organization', { 200: OrganizationDto })
  async find(@CurrentPrincipal() principal: Principal): Promise<OrganizationDto> {
    return this.shown(await this.organization.find(principal), principal);
  }

  @Patch()
  @Operation(
    'Change your organization: its name, and whether people must sign in with an identity provider',
    { 200: OrganizationDto },
    'While ssoRequired is true, sign-ins with a password are refused everywhere, but those of the recovery administrator. ' +
      'API keys and CI jobs are not concerned.',
  )
  async update(@CurrentActor() actor: Actor, @Body() dto: UpdateOrganizationDto): Promise<OrganizationDto> {
    return this.shown(await this.organization.update(actor, dto), actor.principal);
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

  private shown(row: OrganizationRow, { tier, lockdown }: Principal): OrganizationDto {
    return {
      ...row,
      lockdown: lockdown?.scope === 'ORGANIZATION' ? lockdown : null,
      subscriptionTier: tier,
      ssoRedirectUri: this.addresses.callback(row.slug),
    };
  }
}
