import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { LIVE_SESSION_STATUSES, type HostAddress } from '#rules';
import type { SessionFilter } from '#entities';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { PathId } from '../http/path-id';
import { writePageHeaders } from '../http/page-headers';
import { ExtendSessionDto } from './dto/extend-session.dto';
import { AdminSessionQueryDto, SessionQueryDto } from './dto/session-query.dto';
import { SessionDto } from './dto/session.dto';
import { StartSessionDto } from './dto/start-session.dto';
import { toSession } from './session.mapper';
import { SessionsService } from './sessions.service';

@ApiTags('Sessions')
@Controller('sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @HttpCode(200)
  @SignedIn({ scope: 'sessions:write' })
  @ApiOperation({ summary: 'Let an address in for some hours' })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404, 409] })
  async start(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: StartSessionDto,
  ): Promise<SessionDto> {
    return toSession(await this.sessions.start(principal, asked, caller));
  }

  @Get()
  @SignedIn({ scope: 'sessions:read' })
  @ApiOperation({ summary: 'Your own sessions, newest first' })
  @Answers({ 200: [SessionDto], errors: [400, 401, 403] })
  list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SessionQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto[]> {
    return this.page(principal, query, principal.userId, response);
  }

  @Get('admin')
  @AdminOnly()
  @ApiOperation({ summary: "The organization's sessions, newest first" })
  @Answers({ 200: [SessionDto], errors: [400, 401, 403] })
  listAll(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AdminSessionQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto[]> {
    return this.page(principal, query, query.userId, response);
  }

  @Get(':id')
  @SignedIn({ scope: 'sessions:read' })
  @ApiOperation({ summary: 'One session' })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<SessionDto> {
    return toSession(await this.sessions.find(principal, id));
  }

  @Post(':id/stop')
  @HttpCode(200)
  @SignedIn({ scope: 'sessions:write' })
  @ApiOperation({ summary: 'End your session now' })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404] })
  async stop(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<SessionDto> {
    return toSession(await this.sessions.stop(principal, id, caller));
  }

  @Post(':id/extend')
  @HttpCode(200)
  @SignedIn({ scope: 'sessions:write' })
  @ApiOperation({ summary: 'Move the end of your session later' })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404, 409] })
  async extend(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() { additionalHours }: ExtendSessionDto,
  ): Promise<SessionDto> {
    return toSession(await this.sessions.extend(principal, id, additionalHours, caller));
  }

  @Post('admin/:id/stop')
  @HttpCode(200)
  @AdminOnly()
  @ApiOperation({ summary: "End anybody's session in the organization" })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404] })
  async stopByAdmin(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<SessionDto> {
    return toSession(await this.sessions.stopByAdmin(principal, id, caller));
  }

  private async page(
    principal: Principal,
    query: SessionQueryDto,
    userId: string | undefined,
    response: Response,
  ): Promise<SessionDto[]> {
    const filter: SessionFilter = { userId, resourceId: query.resourceId, statuses: statusesOf(query) };
    const { rows, total } = await this.sessions.list(principal, filter, query);
    writePageHeaders(response, query, total);
    return rows.map(toSession);
  }
}

function statusesOf(query: SessionQueryDto): SessionFilter['statuses'] {
  if (!query.active) return query.status;
  return LIVE_SESSION_STATUSES.filter((status) => query.status?.includes(status) ?? true);
}
