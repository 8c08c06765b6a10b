import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import {
  AllowedWhileLockedDown,
  AdminOnly,
  AllowedWhileSuspended,
  CurrentPrincipal,
  SignedIn,
  type Principal,
} from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { clientDisconnectSignal } from '../http/client-disconnect';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { SessionsService } from '../sessions/sessions.service';
import { toAccessRequest } from './access-request.mapper';
import { AccessRequestsService } from './access-requests.service';
import {
  AccessRequestDto,
  AccessRequestQueryDto,
  AccessRequestWaitDto,
  CreateAccessRequestDto,
  DecideDto,
} from './dto/access-request.dto';

const READ = { scope: 'sessions:read', onFreePlan: true } as const;

@ApiTags('Access requests')
@Controller('access-requests')
export class AccessRequestsController {
  constructor(
    private readonly requests: AccessRequestsService,
    private readonly sessions: SessionsService,
  ) {}

  @Post()
  @SignedIn({ scope: 'sessions:write' })
  @Operation(
    'Ask for a session that needs approval',
    { 201: AccessRequestDto, errors: [404, 409] },
    'It waits for 24 hours. When it is APPROVED, POST /sessions within an hour starts the session: its time begins then.',
  )
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateAccessRequestDto): Promise<AccessRequestDto> {
    return toAccessRequest(await this.requests.create(actor, dto));
  }

  @Get()
  @SignedIn(READ)
  @Operation('List access requests, newest first', { 200: [AccessRequestDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AccessRequestQueryDto,
  ): Promise<ListPage<AccessRequestDto>> {
    return new ListPage(query, await this.requests.list(principal, query)).map(toAccessRequest);
  }

  @Get(':id')
  @SignedIn(READ)
  @Operation('Get an access request; with waitSeconds, once it is decided', {
    200: AccessRequestDto,
    errors: [404],
  })
  async find(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() { waitSeconds }: AccessRequestWaitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AccessRequestDto> {
    if (waitSeconds === undefined) return toAccessRequest(await this.requests.find(principal, id));
    const disconnected = clientDisconnectSignal(response);
    return toAccessRequest(
      await this.sessions.waiting(principal, () =>
        this.requests.findDecided(principal, id, waitSeconds, disconnected),
      ),
    );
  }

  @Post(':id/approve')
  @SignedIn()
  @Operation(
    'Approve an access request of another person',
    { 200: AccessRequestDto, errors: [404, 409] },
    'Who may: active members of the roles that it names, or administrators. The last approval that is needed makes it APPROVED.',
  )
  approve(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { note }: DecideDto,
  ): Promise<AccessRequestDto> {
    return this.decide(actor, 'approve', id, note);
  }

  @Post(':id/deny')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @SignedIn()
  @Operation('Deny an access request of another person', { 200: AccessRequestDto, errors: [404, 409] })
  deny(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { note }: DecideDto,
  ): Promise<AccessRequestDto> {
    return this.decide(actor, 'deny', id, note);
  }

  @Post(':id/withdraw')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @SignedIn()
  @Operation(
    'Withdraw your approval of an access request',
    { 200: AccessRequestDto, errors: [404, 409] },
    'While no session has used it. What was approved is LAPSED; what waits for another approval goes on waiting.',
  )
  async withdraw(@CurrentActor() actor: Actor, @PathId() id: string): Promise<AccessRequestDto> {
    return toAccessRequest(await this.requests.withdraw(actor, id));
  }

  @Post(':id/cancel')
  @AllowedWhileLockedDown()
  @Uncounted()
  @AllowedWhileSuspended()
  @SignedIn({ scope: 'sessions:write', onFreePlan: true })
  @Operation('Give up your access request, or its approval', { 200: AccessRequestDto, errors: [404, 409] })
  cancel(@CurrentActor() actor: Actor, @PathId() id: string): Promise<AccessRequestDto> {
    return this.decide(actor, 'cancel', id);
  }

  @Post(':id/review')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    'Acknowledge a session of another person that was started with breakGlass',
    { 200: AccessRequestDto, errors: [404, 409] },
    'Until then it is listed with view=review. It does not end the session.',
  )
  review(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { note }: DecideDto,
  ): Promise<AccessRequestDto> {
    return this.decide(actor, 'review', id, note);
  }

  private async decide(
    actor: Actor,
    as: Parameters<AccessRequestsService['decide']>[1],
    id: string,
    note: string | null = null,
  ): Promise<AccessRequestDto> {
    return toAccessRequest(await this.requests.decide(actor, as, id, note));
  }
}
