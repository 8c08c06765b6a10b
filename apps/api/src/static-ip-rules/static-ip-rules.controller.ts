import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { CreateStaticIpRuleDto, StaticIpRuleDto, UpdateStaticIpRuleDto } from './dto/static-ip-rule.dto';
import { toStaticIpRule } from './static-ip-rule.mapper';
import { StaticIpRulesService } from './static-ip-rules.service';

@ApiTags('Static IP rules')
@Controller('static-ip-rules')
@AdminOnly()
export class StaticIpRulesController {
  constructor(private readonly rules: StaticIpRulesService) {}

  @Post()
  @ApiOperation({
    summary: 'Let an address or a range in for good',
    description: 'Applied in the background: read the rule to follow it.',
  })
  @Answers({ 201: StaticIpRuleDto, errors: [400, 401, 403, 404, 422] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateStaticIpRuleDto,
  ): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.create(principal, asked, caller));
  }

  @Get()
  @ApiOperation({ summary: "The organization's static IP rules, newest first" })
  @Answers({ 200: [StaticIpRuleDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() slice: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaticIpRuleDto[]> {
    const { rows, total } = await this.rules.list(principal, slice);
    writePageHeaders(response, slice, total);
    return rows.map(toStaticIpRule);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One static IP rule' })
  @Answers({ 200: StaticIpRuleDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({
    summary: 'Rename a static IP rule, or change its resources',
    description: 'resourceIds is the whole list: what it leaves out is revoked, what FAILED is tried again.',
  })
  @Answers({ 200: StaticIpRuleDto, errors: [400, 401, 403, 404, 422] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() asked: UpdateStaticIpRuleDto,
  ): Promise<StaticIpRuleDto> {
    return toStaticIpRule(await this.rules.update(principal, id, asked, caller));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a static IP rule',
    description: 'It leaves the API at once, and the clouds in the background.',
  })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  delete(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.rules.delete(principal, id, caller);
  }
}
