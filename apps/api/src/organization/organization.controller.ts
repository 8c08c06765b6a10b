import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Answers } from '../docs/answers';
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
  @ApiOperation({ summary: 'Get your organization' })
  @Answers({ 200: OrganizationDto, errors: [401, 403] })
  find(@CurrentPrincipal() principal: Principal): Promise<OrganizationDto> {
    return this.organization.find(principal);
  }

  @Patch()
  @ApiOperation({ summary: 'Rename your organization' })
  @Answers({ 200: OrganizationDto, errors: [400, 401, 403] })
  update(@CurrentActor() actor: Actor, @Body() dto: UpdateOrganizationDto): Promise<OrganizationDto> {
    return this.organization.update(actor, dto);
  }

  @Post('delete')
  @ApiOperation({
    summary: 'Delete your organization',
    description:
      'For its last active administrator, with MFA. Sessions, static IP rules, keys, trusts and sign-ins end at once; the ' +
      'organization is terminating until its last rule is removed. Audit trail and ledger are kept for their retention.',
  })
  @Answers({ 200: EmptyDto, errors: [400, 401, 403, 409] })
  async delete(@CurrentActor() actor: Actor, @Body() dto: DeleteOrganizationDto): Promise<EmptyDto> {
    await this.deletion.deleteOwn(actor, dto);
    return {};
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
