import { Injectable } from '@nestjs/common';
import { Database, type Sliced, type Tx } from '#entities';
import {
  type AccessRequestRow,
  AccessRequestStore,
  type GrantRow,
  MAX_WAITING_REQUESTS,
  type NewAccessRequest,
  SessionStore,
} from '#tenant-store';
import type { Principal } from '#guards';
import { maximumDuration } from '#rules';
import { ApiSettings } from '../api.settings';
import { ActionRecords } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import { type ApiError, conflict, forbidden, notFound, notPossible } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { approvalsText, decidersText, sessionDemand } from '../sessions/session-demand';
import {
  fieldDifferingFromCaller,
  mustBeCallerAddress,
  selectGrants,
  sessionAddresses,
  sessionHours,
} from '../sessions/session-plan';
import { AccessRequestWaiter } from './access-request-waiter';
import { timeRange } from '../http/time-range';
import type { AccessRequestQueryDto, CreateAccessRequestDto } from './dto/access-request.dto';

type Action = Parameters<AccessRequestStore['decide']>[2];

/** Requests for sessions that others have to approve, and reviews of those that were started without. */
@Injectable()
export class AccessRequestsService {
  constructor(
    private readonly database: Database,
    private readonly requests: AccessRequestStore,
    private readonly sessions: SessionStore,
    private readonly records: ActionRecords,
    private readonly waiter: AccessRequestWaiter,
    private readonly settings: ApiSettings,
  ) {}

  /** @throws ApiError as the start of such a session does; 400 when it needs no approval, 409 when too many wait or too few decide */
  async create(actor: Actor, dto: CreateAccessRequestDto): Promise<AccessRequestRow> {
    const { organizationId, userId, email } = actor.principal;
    const known = await this.sessions.grants(this.database.autocommit, organizationId, userId, dto);
    const grants = selectGrants(known, dto);
    const request = this.planned(actor, dto, grants);
    return this.database.transaction(async (tx) => {
      const id = await this.requests.create(tx, organizationId, request);
      if (id === null) throw tooManyWait();
      const created = await this.existing(tx, actor.principal, id);
      const deciders = await this.requests.deciders(tx, organizationId, [id]);
      if (deciders.length < created.approvalsNeeded) throw tooFewDecide(created, deciders.length);
      const { requesterId, resourceIds: _, ...details } = request;
      const resources = grants.map(({ resourceId, resourceName }) => ({
        id: resourceId,
        name: resourceName,
      }));
      await this.records.record(
        tx,
        actor,
        'ACCESS_REQUESTED',
        { type: 'ACCESS_REQUEST', id, name: email },
        { ...details, userId: requesterId, resources },
      );
      return created;
    });
  }

  private planned(actor: Actor, dto: CreateAccessRequestDto, grants: readonly GrantRow[]): NewAccessRequest {
    const { principal } = actor;
    const addresses = sessionAddresses(dto, actor, { allowPrivate: this.settings.ALLOW_PRIVATE_ADDRESSES });
    const field = fieldDifferingFromCaller(dto, addresses, actor);
    if (field !== null && principal.requireDetectedAddress) throw mustBeCallerAddress(field, actor);
    const longest = maximumDuration(principal.tier, grants);
    const hours = sessionHours(dto.durationHours, this.settings.SESSION_DEFAULT_HOURS, longest);
    const brought = { hours, reason: dto.reason, breakGlass: false };
    const demand = sessionDemand(principal.tier, grants, brought);
    if (demand.approvals === 0)
      throw notPossible('Such a session needs no approval: start it with POST /sessions');
    return {
      requesterId: principal.userId,
      resourceIds: grants.map(({ resourceId }) => resourceId),
      durationHours: hours,
      reason: dto.reason,
      ticket: dto.ticket ?? null,
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      approvalsNeeded: demand.approvals,
      approverRoleIds: demand.approverRoles.map(({ id }) => id),
    };
  }

  /** @throws ApiError 403 when it is not the caller's, who neither is an administrator nor may decide */
  async find(principal: Principal, id: string): Promise<AccessRequestRow> {
    const request = await this.existing(this.database.autocommit, principal, id);
    const { userId, isOrgAdmin } = principal;
    const isConcerned =
      request.userId === userId ||
      request.mayDecide ||
      request.decisions.some((decision) => decision.userId === userId);
    if (!isConcerned && !isOrgAdmin) throw forbidden('The access request belongs to another user');
    return request;
  }

  /** As `find`, but waits until it is decided, or until the timeout. Checks access first. */
  async findDecided(
    principal: Principal,
    id: string,
    timeoutSeconds: number,
    disconnected: AbortSignal,
  ): Promise<AccessRequestRow> {
    const request = await this.find(principal, id);
    if (request.status !== 'WAITING') return request;
    await this.waiter.waitUntilSettled(id, timeoutSeconds, disconnected);
    return disconnected.aborted ? request : this.find(principal, id);
  }

  /** @throws ApiError 403 for the requests of others, unless an administrator who has signed in asks */
  list(principal: Principal, query: AccessRequestQueryDto): Promise<Sliced<AccessRequestRow>> {
    const { view, userId: requesterId, resourceId, status: statuses } = query;
    const { kind, isOrgAdmin, organizationId, userId } = principal;
    if (view !== 'mine' && kind !== 'user') throw forbidden('Only a signed-in person decides');
    if ((view === 'all' || view === 'review') && !isOrgAdmin)
      throw forbidden('Only an administrator of the organization may do this');
    const filter = { view, userId: requesterId, resourceId, statuses, ...timeRange(query) };
    return this.requests.list(this.database.autocommit, organizationId, filter, userId, query);
  }

  /**
   * Approves, denies, reviews or cancels a request.
   * @throws ApiError 404 when there is none, 403 when it is not the caller's to do so, 409 when it is too late
   */
  async decide(actor: Actor, as: Action, id: string, note: string | null): Promise<AccessRequestRow> {
    const { principal } = actor;
    const { organizationId, userId, signIn } = principal;
    const signInId = signIn?.id ?? null;
    const decision = { id, userId, signInId, note, actor: auditActor(actor) };
    const isDone = await this.database.transaction((tx) =>
      this.requests.decide(tx, organizationId, as, decision),
    );
    const request = await this.existing(this.database.autocommit, principal, id);
    if (isDone) return request;
    const counts = as !== 'approve' && as !== 'review';
    const { autocommit } = this.database;
    if (!counts && (await this.requests.isByRequester(autocommit, organizationId, id, decision)))
      throw linkedByRequester();
    throw refusalOf(as, principal, request);
  }

  private async existing(tx: Tx, principal: Principal, id: string): Promise<AccessRequestRow> {
    const request = await this.requests.find(tx, principal.organizationId, id, principal.userId);
    if (!request) throw notFound(`Access request ${id} does not exist`);
    return request;
  }
}

const tooManyWait = (): ApiError =>
  conflict(`You have ${MAX_WAITING_REQUESTS} requests that wait: cancel one, or let one be decided`);

const tooFewDecide = ({ approvalsNeeded, approverRoles }: AccessRequestRow, deciders: number): ApiError =>
  conflict(
    `It needs ${approvalsText(approvalsNeeded)} by ${decidersText(approverRoles)}, and there ${deciders === 1 ? 'is one' : 'are none'}: ` +
      'an administrator can change who decides',
  );

const linkedByRequester = (): ApiError =>
  forbidden(
    'Another person has to decide, or you in another sign-in: the requester linked the identity that you signed in with to your ' +
      'account, or passed on the link by which your password was set (set another one by a link that is mailed, or that ' +
      'somebody else passes on)',
  );

/** Why the database has refused. */
function refusalOf(
  as: Action,
  { userId, isOrgAdmin }: Principal,
  { status, ...request }: AccessRequestRow,
): ApiError {
  const isOwn = request.userId === userId;
  if (as === 'cancel') {
    return isOwn
      ? conflict(`The access request cannot be cancelled: it is ${status}`)
      : forbidden('The access request belongs to another user');
  }
  if (isOwn) return forbidden('Another person has to decide: the access request is your own');
  if (as === 'review') {
    if (!isOrgAdmin) return forbidden('Only an administrator of the organization may do this');
    if (!request.breakGlass)
      return notPossible('Nothing is to be reviewed: the session had approval, or none began');
    return conflict('The session was reviewed before');
  }
  const { decisions, approverRoles } = request;
  if (status !== 'WAITING') return conflict(`The access request is ${status}: nothing is to be decided`);
  if (decisions.some((decision) => decision.userId === userId)) return conflict('You have decided before');
  return forbidden(`The access request is decided by ${decidersText(approverRoles)}`);
}
