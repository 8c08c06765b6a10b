import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Platform } from '#guards';
import type { PlatformOrganizationRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { Plans } from '../plans/plans';
import { OverdueRuleDto } from './dto/overdue-rule.dto';
import { PlatformOrganizationDto, PlatformOrganizationQueryDto, ReasonDto } from './dto/platform.dto';
import { PlatformService } from './platform.service';

@ApiTags('Platform')
@Controller('platform')
export class PlatformController {
  constructor(
    private readonly platform: PlatformService,
    private readonly plans: Plans,
  ) {}

  @Get('organizations')
  @Platform()
  @Operation('List all organizations, newest first', { 200: [PlatformOrganizationDto] })
  async list(@Query() query: PlatformOrganizationQueryDto): Promise<ListPage<PlatformOrganizationDto>> {
    return new ListPage(query, await this.platform.list(query.search, query)).map(this.shown);
  }

  @Get('organizations/:id')
  @Platform()
  @Operation('Get an organization', { 200: PlatformOrganizationDto, errors: [404] })
  async find(@PathId() id: string): Promise<PlatformOrganizationDto> {
    return this.shown(await this.platform.find(id));
  }

  @Post('organizations/:id/suspend')
  @Platform({ write: true })
  @Operation(
    'Suspend an organization',
    { 200: PlatformOrganizationDto, errors: [404, 409] },
    'It cannot start or extend sessions; stopping, reading and the removal of rules still work.',
  )
  async suspend(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<PlatformOrganizationDto> {
    return this.shown(await this.platform.suspend(actor, id, reason));
  }

  @Post('organizations/:id/reactivate')
  @Platform({ write: true })
  @Operation('Reactivate a suspended organization', { 200: PlatformOrganizationDto, errors: [404, 409] })
  async reactivate(@CurrentActor() actor: Actor, @PathId() id: string): Promise<PlatformOrganizationDto> {
    return this.shown(await this.platform.reactivate(actor, id));
  }

  @Post('organizations/:id/delete')
  @Platform({ write: true })
  @Operation(
    'Delete an organization',
    { 200: PlatformOrganizationDto, errors: [404] },
    'As POST /organization/delete: TERMINATING until its last rule is removed, then DELETED. Repeated, it cancels a ' +
      'subscription that could not be cancelled.',
  )
  async delete(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<PlatformOrganizationDto> {
    return this.shown(await this.platform.delete(actor, id, reason));
  }

  @Get('overdue-rules')
  @Platform()
  @Operation(
    'List the rules that should be gone and are still in a cloud, oldest first',
    { 200: [OverdueRuleDto] },
    'Of all organizations. Their removal is retried; `lastError` is what the provider answered last.',
  )
  async overdueRules(@Query() query: PageQueryDto): Promise<ListPage<OverdueRuleDto>> {
    return new ListPage(query, await this.platform.overdueRules(query));
  }

  private readonly shown = (row: PlatformOrganizationRow): PlatformOrganizationDto => ({
    ...row,
    subscriptionTier: this.plans.tierOf(row.subscriptionTier),
  });
}
