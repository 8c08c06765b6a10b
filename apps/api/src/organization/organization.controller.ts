import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Answers } from '../docs/answers';
import { CurrentActor, type Actor } from '../http/actor';
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
  @ApiOperation({ summary: 'Get your organization' })
  @Answers({ 200: OrganizationDto, errors: [401, 403] })
  async find(@CurrentPrincipal() principal: Principal): Promise<OrganizationDto> {
    return toOrganization(await this.organization.find(principal));
  }

  @Patch()
  @ApiOperation({ summary: 'Rename your organization' })
  @Answers({ 200: OrganizationDto, errors: [400, 401, 403] })
  async update(@CurrentActor() actor: Actor, @Body() dto: UpdateOrganizationDto): Promise<OrganizationDto> {
    return toOrganization(await this.organization.update(actor, dto));
  }

  @Get('settings')
  @ApiOperation({ summary: 'Get your organization’s settings for passwords, MFA and sessions' })
  @Answers({ 200: OrganizationSettingsDto, errors: [401, 403] })
  settings(@CurrentPrincipal() principal: Principal): Promise<OrganizationSettingsDto> {
    return this.organization.settings(principal);
  }

  @Patch('settings')
  @ApiOperation({
    summary: 'Change your organization’s settings for passwords, MFA and sessions',
    description: 'Omitted fields stay unchanged. The password policy applies to passwords set from now on.',
  })
  @Answers({ 200: OrganizationSettingsDto, errors: [400, 401, 403, 422] })
  updateSettings(
    @CurrentActor() actor: Actor,
    @Body() dto: UpdateOrganizationSettingsDto,
  ): Promise<OrganizationSettingsDto> {
    return this.organization.updateSettings(actor, dto);
  }
}
