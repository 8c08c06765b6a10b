import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, Platform, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PathId } from '../http/path-id';
import { PlatformOrganizationDto, PlatformOrganizationQueryDto, SuspendDto } from './dto/platform.dto';
import { toPlatformOrganization } from './platform.mapper';
import { PlatformService } from './platform.service';

@ApiTags('Platform')
@Controller('platform/organizations')
export class PlatformController {
  constructor(private readonly platform: PlatformService) {}

  @Get()
  @Platform()
  @ApiOperation({ summary: 'All organizations, newest first' })
  @Answers({ 200: [PlatformOrganizationDto], errors: [400, 401, 403] })
  async list(
    @Query() query: PlatformOrganizationQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PlatformOrganizationDto[]> {
    const { rows, total } = await this.platform.list(query.search, query);
    writePageHeaders(response, query, total);
    return rows.map(toPlatformOrganization);
  }

  @Get(':id')
  @Platform()
  @ApiOperation({ summary: 'One organization' })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404] })
  async find(@PathId() id: string): Promise<PlatformOrganizationDto> {
    return toPlatformOrganization(await this.platform.find(id));
  }

  @Post(':id/suspend')
  @HttpCode(200)
  @Platform({ write: true })
  @ApiOperation({
    summary: 'Suspend an organization',
    description: 'It starts and extends no sessions; stopping, reading and every removal go on.',
  })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404, 409] })
  async suspend(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() { reason }: SuspendDto,
  ): Promise<PlatformOrganizationDto> {
    return toPlatformOrganization(await this.platform.suspend(principal, id, reason, caller));
  }

  @Post(':id/reactivate')
  @HttpCode(200)
  @Platform({ write: true })
  @ApiOperation({ summary: 'Take a suspension back' })
  @Answers({ 200: PlatformOrganizationDto, errors: [400, 401, 403, 404, 409] })
  async reactivate(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<PlatformOrganizationDto> {
    return toPlatformOrganization(await this.platform.reactivate(principal, id, caller));
  }
}
