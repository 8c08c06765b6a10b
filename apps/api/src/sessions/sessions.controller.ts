import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { LIVE_SESSION_STATUSES, SESSION_STATUSES, type HostAddress, type SessionStatus } from '#rules';
import type { SessionFilter } from '#tenant-store';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { hungUp } from '../http/hung-up';
import { PathId } from '../http/path-id';
import { writePageHeaders } from '../http/page-headers';
import { timeRange } from '../http/time-range';
import { ExtendSessionDto } from './dto/extend-session.dto';
import { AdminSessionQueryDto, SessionQueryDto, SessionWaitDto } from './dto/session-query.dto';
import { SessionDto } from './dto/session.dto';
import { StartSessionDto } from './dto/start-session.dto';
import { IDEMPOTENCY_KEY_HEADER, IdempotencyKey } from './idempotency-key';
import { SessionStarter } from './session-starter';
import { toSession } from './session.mapper';
import { SessionsService } from './sessions.service';

@ApiTags('Sessions')
@Controller('sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly starter: SessionStarter,
  ) {}

  @Post()
  @HttpCode(200)
  @SignedIn({ scope: 'sessions:write' })
  @ApiOperation({
    summary: 'Let an address in for some hours',
    description:
      'An address left out is the caller’s own, for each IP version by itself: who gives an IPv6 address and calls over ' +
      'IPv4 has both let in. Resources left out are all that the caller’s roles hold. With waitSeconds the answer comes ' +
      'when the session is no longer PENDING.',
  })
  @ApiHeader({
    name: IDEMPOTENCY_KEY_HEADER,
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description:
      'For 24 hours the same key with the same body gets the first answer again, marked Idempotency-Replayed: true',
  })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404, 409, 422] })
  async start(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @IdempotencyKey() key: string | null,
    @Body() asked: StartSessionDto,
    @Query() { waitSeconds }: SessionWaitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    const { session, replayed } =
      key === null
        ? { session: await this.starter.start(principal, asked, caller), replayed: false }
        : await this.starter.startOnce(principal, key, asked, caller);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    if (waitSeconds === undefined) return session;
    return toSession(await this.sessions.findSettled(principal, session.id, waitSeconds, hungUp(response)));
  }

  @Get()
  @SignedIn({ scope: 'sessions:read', onFreePlan: true })
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
  @SignedIn({ scope: 'sessions:read', onFreePlan: true })
  @ApiOperation({ summary: 'One session; with waitSeconds, as soon as it has settled' })
  @Answers({ 200: SessionDto, errors: [400, 401, 403, 404] })
  async find(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() { waitSeconds }: SessionWaitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    if (waitSeconds === undefined) return toSession(await this.sessions.find(principal, id));
    const gone = hungUp(response);
    return toSession(await this.sessions.findSettled(principal, id, waitSeconds, gone));
  }

  @Post(':id/stop')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @SignedIn({ scope: 'sessions:write', onFreePlan: true })
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
  @AllowedWhileSuspended()
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
    const filter: SessionFilter = {
      userId,
      resourceId: query.resourceId,
      statuses: statusesOf(query),
      ...timeRange(query),
    };
    const { rows, total } = await this.sessions.list(principal, filter, query);
    writePageHeaders(response, query, total);
    return rows.map(toSession);
  }
}

function statusesOf({ status, active }: SessionQueryDto): SessionFilter['statuses'] {
  if (active === undefined) return status;
  const live: readonly SessionStatus[] = LIVE_SESSION_STATUSES;
  return (status ?? SESSION_STATUSES).filter((asked) => live.includes(asked) === active);
}
