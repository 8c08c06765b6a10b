import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import {
  OrganizationDto,
  OrganizationSettingsDto,
  UpdateOrganizationDto,
  UpdateOrganizationSettingsDto,
} from './dto/organization.dto';
import { toOrganization } from './organization.mapper';
import { OrganizationService } from './organization.service';

@ApiTags('Organization')
@AdminOnly()
@AllowedWhileSuspended()
@Controller('organization')
export class OrganizationController {
  constructor(private readonly organization: OrganizationService) {}

  @Get()
  @ApiOperation({ summary: 'Your organization' })
  @Answers({ 200: OrganizationDto, errors: [401, 403] })
  async find(@CurrentPrincipal() principal: Principal): Promise<OrganizationDto> {
    return toOrganization(await this.organization.find(principal));
  }

  @Patch()
  @ApiOperation({ summary: 'Rename your organization' })
  @Answers({ 200: OrganizationDto, errors: [400, 401, 403] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: UpdateOrganizationDto,
  ): Promise<OrganizationDto> {
    return toOrganization(await this.organization.update(principal, asked, caller));
  }

  @Get('settings')
  @ApiOperation({ summary: 'What your organization asks of passwords, MFA and sessions' })
  @Answers({ 200: OrganizationSettingsDto, errors: [401, 403] })
  settings(@CurrentPrincipal() principal: Principal): Promise<OrganizationSettingsDto> {
    return this.organization.settings(principal);
  }

  @Patch('settings')
  @ApiOperation({
    summary: 'Change what your organization asks of passwords, MFA and sessions',
    description: 'Only the given fields change. The policy counts for passwords set from now on.',
  })
  @Answers({ 200: OrganizationSettingsDto, errors: [400, 401, 403, 422] })
  updateSettings(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: UpdateOrganizationSettingsDto,
  ): Promise<OrganizationSettingsDto> {
    return this.organization.updateSettings(principal, asked, caller);
  }
}
