import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Platform } from '#guards';
import { Answers } from '../docs/answers';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { OverdueRuleDto } from './dto/overdue-rule.dto';
import { PlatformOrganizationDto, PlatformOrganizationQueryDto, ReasonDto } from './dto/platform.dto';
import { PlatformService } from './platform.service';

@ApiTags('Platform')
@Controller('platform')
export class PlatformController {
  constructor(private readonly platform: PlatformService) {}

  @Get('organizations')
  @Platform()
  @ApiOperation({ summary: 'List all organizations, newest first' })
  @Answers({ 200: [PlatformOrganizationDto], errors: [400, 401, 403] })
  async list(@Query() query: PlatformOrganizationQueryDto): Promise<ListPage<PlatformOrganizationDto>> {
    return new ListPage(query, await this.platform.list(query.search, query));
  }

  @Get('organizations/:id')
  @Platform()
  @ApiOperation({ summary: 'Get an organization' })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404] })
  find(@PathId() id: string): Promise<PlatformOrganizationDto> {
    return this.platform.find(id);
  }

  @Post('organizations/:id/suspend')
  @Platform({ write: true })
  @ApiOperation({
    summary: 'Suspend an organization',
    description: 'It cannot start or extend sessions; stopping, reading and the removal of rules still work.',
  })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404, 409] })
  suspend(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<PlatformOrganizationDto> {
    return this.platform.suspend(actor, id, reason);
  }

  @Post('organizations/:id/reactivate')
  @Platform({ write: true })
  @ApiOperation({ summary: 'Reactivate a suspended organization' })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404, 409] })
  reactivate(@CurrentActor() actor: Actor, @PathId() id: string): Promise<PlatformOrganizationDto> {
    return this.platform.reactivate(actor, id);
  }

  @Post('organizations/:id/delete')
  @Platform({ write: true })
  @ApiOperation({
    summary: 'Delete an organization',
    description:
      'As POST /organization/delete: TERMINATING until its last rule is removed, then DELETED. Repeated, it cancels a ' +
      'subscription that could not be cancelled.',
  })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404] })
  delete(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<PlatformOrganizationDto> {
    return this.platform.delete(actor, id, reason);
  }

  @Get('overdue-rules')
  @Platform()
  @ApiOperation({
    summary: 'List the rules that should be gone and are still in a cloud, oldest first',
    description:
      'Of all organizations. Their removal is retried; `lastError` is what the provider answered last.',
  })
  @Answers({ 200: [OverdueRuleDto], errors: [400, 401, 403] })
  async overdueRules(@Query() query: PageQueryDto): Promise<ListPage<OverdueRuleDto>> {
    return new ListPage(query, await this.platform.overdueRules(query));
  }
}
