import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import {
  AllowedWhileLockedDown,
  AdminOnly,
  AllowedWhileSuspended,
  CurrentPrincipal,
  SignedIn,
  type Principal,
} from '#guards';
import { LIVE_SESSION_STATUSES, SESSION_STATUSES, type SessionStatus } from '#rules';
import type { SessionFilter, SessionRow } from '#tenant-store';
import { Bulk, rowsOf } from '../audit/bulk';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { clientDisconnectSignal } from '../http/client-disconnect';
import { PathId } from '../http/path-id';
import { ListPage } from '../http/list-page';
import { refuseLongReading, timeRange } from '../http/time-range';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { BulkSessionsDto } from './dto/bulk-sessions.dto';
import { ExtendSessionDto } from './dto/extend-session.dto';
import { AdminSessionQueryDto, SessionQueryDto, SessionWaitDto } from './dto/session-query.dto';
import { RenewedSessionDto, SessionDto, StartedSessionDto } from './dto/session.dto';
import { SessionPlanDto } from './dto/session-plan.dto';
import { StartSessionDto } from './dto/start-session.dto';
import { IDEMPOTENCY_KEY_HEADER, IdempotencyKey } from './idempotency-key';
import { SessionPlans } from './session-plans';
import { SessionStarter } from './session-starter';
import { toSession, toStarted } from './session.mapper';
import { SessionsService } from './sessions.service';

@ApiTags('Sessions')
@Controller('sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly starter: SessionStarter,
    private readonly plans: SessionPlans,
    private readonly many: Bulk,
  ) {}

  @Post()
  @SignedIn({ scope: 'sessions:write' })
  @Operation(
    'Start a session',
    { 200: StartedSessionDto, errors: [404, 409, 422] },
    'Allows addresses on resources for a limited time. An omitted address defaults to the caller’s own, per IP version: ' +
      'a caller that sends an IPv6 address over IPv4 gets both. Omitted resourceIds default to all resources of the ' +
      'caller’s roles. With waitSeconds the response is sent once the session is no longer PENDING.',
  )
  @ApiHeader({
    name: IDEMPOTENCY_KEY_HEADER,
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description:
      'For 24 hours the same key with the same body returns the first response, marked Idempotency-Replayed: true',
  })
  async start(
    @CurrentActor() actor: Actor,
    @IdempotencyKey() key: string | null,
    @Body() dto: StartSessionDto,
    @Query() { waitSeconds }: SessionWaitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StartedSessionDto> {
    const { principal } = actor;
    const start = async (): Promise<StartedSessionDto> => {
      const { session, replayed } = await this.starter.start({ actor, dto }, key);
      if (replayed) response.setHeader('Idempotency-Replayed', 'true');
      return session;
    };
    if (waitSeconds === undefined) return start();
    // refused before anything is started
    return this.sessions.waiting(principal, async () => {
      const { id, sessionToken, inactiveResources } = await start();
      const disconnected = clientDisconnectSignal(response);
      const settled = await this.sessions.findSettled(principal, id, waitSeconds, disconnected);
      return toStarted(toSession(settled), { sessionToken, inactiveResources });
    });
  }

  @Post('plan')
  @SignedIn({ scope: 'sessions:write' })
  @Operation(
    'See what POST /sessions would do, and start nothing',
    { 200: SessionPlanDto },
    'Takes the body of POST /sessions and runs the same plan and the same guard. What a start would refuse is the refusal ' +
      'of the answer; malformed fields are answered with 400. Nothing is stored, recorded or sent.',
  )
  plan(@CurrentActor() actor: Actor, @Body() dto: StartSessionDto): Promise<SessionPlanDto> {
    return this.plans.plan(actor, dto);
  }

  @Get()
  @SignedIn({ scope: 'sessions:read', onFreePlan: true })
  @Operation('List your own sessions, newest first', { 200: [SessionDto] })
  list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SessionQueryDto,
  ): Promise<ListPage<SessionDto>> {
    return this.page(principal, query, principal.userId);
  }

  @Get('admin')
  @AdminOnly()
  @Operation("List the organization's sessions, newest first", { 200: [SessionDto] })
  listAll(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AdminSessionQueryDto,
  ): Promise<ListPage<SessionDto>> {
    return this.page(principal, query, query.userId);
  }

  @Get(':id')
  @SignedIn({ scope: 'sessions:read', onFreePlan: true, sessionToken: true })
  @Operation('Get a session; with waitSeconds, once it is settled', { 200: SessionDto, errors: [404] })
  async find(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() { waitSeconds }: SessionWaitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    if (waitSeconds === undefined) return toSession(await this.sessions.find(principal, id));
    const disconnected = clientDisconnectSignal(response);
    const find = (): Promise<SessionRow> =>
      this.sessions.findSettled(principal, id, waitSeconds, disconnected);
    return toSession(await this.sessions.waiting(principal, find));
  }

  @Post(':id/stop')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @SignedIn({ scope: 'sessions:write', onFreePlan: true, sessionToken: true })
  @Operation('Stop your session', { 200: SessionDto, errors: [404] })
  async stop(@CurrentActor() actor: Actor, @PathId() id: string): Promise<SessionDto> {
    return toSession(await this.sessions.stop(actor, id));
  }

  @Post(':id/extend')
  @SignedIn({ scope: 'sessions:write' })
  @Operation('Extend your session', { 200: SessionDto, errors: [404, 409] })
  async extend(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { additionalHours }: ExtendSessionDto,
  ): Promise<SessionDto> {
    return toSession(await this.sessions.extend(actor, id, additionalHours));
  }

  @Post(':id/renew')
  @Uncounted()
  @AllowedWhileSuspended()
  @SignedIn({ scope: 'sessions:write', onFreePlan: true, sessionToken: true })
  @Operation('Renew the lease of your session', { 200: RenewedSessionDto, errors: [404, 409] })
  async renew(@CurrentActor() actor: Actor, @PathId() id: string): Promise<RenewedSessionDto> {
    const { session, renewedFrom } = await this.sessions.renew(actor, id);
    return Object.assign(toSession(session), { renewedFrom });
  }

  @Post('admin/:id/stop')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation('Stop any session in the organization', { 200: SessionDto, errors: [404] })
  async stopByAdmin(@CurrentActor() actor: Actor, @PathId() id: string): Promise<SessionDto> {
    return toSession(await this.sessions.stopByAdmin(actor, id));
  }

  @Post('admin/bulk')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation('Stop many sessions of the organization', { 200: BulkResultsDto })
  bulk(@CurrentActor() actor: Actor, @Body() { sessionIds }: BulkSessionsDto): Promise<BulkResultsDto> {
    const action = { eventType: 'SESSION_STOPPED', resourceType: 'SESSION' } as const;
    return this.many.each(actor, action, rowsOf(sessionIds), async ({ id }) => {
      await this.sessions.stopByAdmin(actor, id);
      return 'DONE';
    });
  }

  private async page(
    principal: Principal,
    query: SessionQueryDto,
    userId: string | undefined,
  ): Promise<ListPage<SessionDto>> {
    const { resourceId, address, endedReason: endedReasons, breakGlass } = query;
    const range = timeRange(query);
    refuseLongReading({ address, endedReason: endedReasons, breakGlass }, range.from);
    const statuses = statusesOf(query);
    const filter: SessionFilter = {
      userId,
      resourceId,
      statuses,
      address,
      endedReasons,
      breakGlass,
      ...range,
    };
    return new ListPage(query, await this.sessions.list(principal, filter, query)).map(toSession);
  }
}

function statusesOf({ status, active }: SessionQueryDto): SessionFilter['statuses'] {
  if (active === undefined) return status;
  const live: readonly SessionStatus[] = LIVE_SESSION_STATUSES;
  return (status ?? SESSION_STATUSES).filter((requested) => live.includes(requested) === active);
}
