import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import {
  CreateStaticIpRuleDto,
  StaticIpRuleDto,
  StaticIpRuleQueryDto,
  UpdateStaticIpRuleDto,
} from './dto/static-ip-rule.dto';
import { toStaticIpRule } from './static-ip-rule.mapper';
import { StaticIpRulesService } from './static-ip-rules.service';

@ApiTags('Static IP rules')
@Controller('static-ip-rules')
@AdminOnly()
export class StaticIpRulesController {
  constructor(private readonly rules: StaticIpRulesService) {}

  @Post()
  @Operation(
    'Create a static IP rule: allow an address or a range until it is deleted, or its end',
    { 201: StaticIpRuleDto, errors: [404, 422], dryRun: null },
    'Applied in the background: read the rule to follow its status.',
  )
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateStaticIpRuleDto): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.create(actor, dto));
  }

  @Get()
  @Operation("List the organization's static IP rules", { 200: [StaticIpRuleDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: StaticIpRuleQueryDto,
  ): Promise<ListPage<StaticIpRuleDto>> {
    return new ListPage(query, await this.rules.list(principal, query)).map(toStaticIpRule);
  }

  @Get(':id')
  @Operation('Get a static IP rule', { 200: StaticIpRuleDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation(
    'Rename a static IP rule, or change its resources or its end',
    { 200: StaticIpRuleDto, errors: [404, 422], dryRun: null },
    'resourceIds replaces the list: omitted resources are revoked, FAILED ones are retried. An EXPIRED rule opens again with a later expiresAt.',
  )
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateStaticIpRuleDto,
  ): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.update(actor, id, dto));
  }

  @Delete(':id')
  @Operation(
    'Delete a static IP rule',
    { 204: null, errors: [404] },
    'It is removed from the API immediately and from the clouds in the background.',
  )
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.rules.delete(actor, id);
  }
}
