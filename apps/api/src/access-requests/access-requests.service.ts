import { Injectable } from '@nestjs/common';
import type { Sliced, Tx } from '#entities';
import {
  type AccessRequestRow,
  AccessRequestStore,
  MAX_WAITING_REQUESTS,
  type NewAccessRequest,
  Tenants,
} from '#tenant-store';
import type { Principal } from '#guards';
import { recordAction } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import { type ApiError, conflict, forbidden, notFound, notPossible } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { approvalsText, decidersText } from '../sessions/session-demand';
import type { PlannedSession } from '../sessions/session-plan';
import { SessionPlanner } from '../sessions/session-planner';
import { AccessRequestWaiter } from '../sessions/settlement-waiter';
import { timeRange } from '../http/time-range';
import type { AccessRequestQueryDto, CreateAccessRequestDto } from './dto/access-request.dto';

type Action = Parameters<AccessRequestStore['decide']>[2];

/** @throws ApiError 400 when it needs no approval */
function requestOf(
  { userId }: Principal,
  { reason, ticket }: CreateAccessRequestDto,
  { grants, hours, addresses, demand }: PlannedSession,
): NewAccessRequest {
  if (demand.approvals === 0)
    throw notPossible('Such a session needs no approval: start it with POST /sessions');
  return {
    requesterId: userId,
    resourceIds: grants.map(({ resourceId }) => resourceId),
    durationHours: hours,
    reason,
    ticket: ticket ?? null,
    ipv4Address: addresses.ipv4,
    ipv6Address: addresses.ipv6,
    approvalsNeeded: demand.approvals,
    approverRoleIds: demand.approverRoles.map(({ id }) => id),
  };
}

/** Requests for sessions that others have to approve, and reviews of those that were started without. */
@Injectable()
export class AccessRequestsService {
  constructor(
    private readonly stores: Tenants,
    private readonly planner: SessionPlanner,
    private readonly waiter: AccessRequestWaiter,
  ) {}

  /** @throws ApiError as the start of such a session does; 400 when it needs no approval, 409 when too many wait or too few decide */
  async create(actor: Actor, dto: CreateAccessRequestDto): Promise<AccessRequestRow> {
    const { organizationId, email } = actor.principal;
    const wanted = Object.assign(dto, { breakGlass: false, isDetected: true });
    const planned = await this.planner.plan(this.stores.autocommit, actor, wanted);
    const request = requestOf(actor.principal, dto, planned);
    return this.stores.transaction(async (tx) => {
      const asked = await this.stores.accessRequests.create(tx, organizationId, request);
      if (asked === null) throw tooManyWait();
      const { id, isNew } = asked;
      const created = await this.requireRequest(tx, actor.principal, id);
      if (!isNew) return created;
      const deciders = await this.stores.accessRequests.deciders(tx, organizationId, [id]);
      if (deciders.length < created.approvalsNeeded) throw tooFewDecide(created, deciders.length);
      const { requesterId, resourceIds: _, ...details } = request;
      const resources = planned.grants.map(({ resourceId, resourceName }) => ({
        id: resourceId,
        name: resourceName,
      }));
      await recordAction(
        tx,
        actor,
        'ACCESS_REQUESTED',
        { type: 'ACCESS_REQUEST', id, name: email },
        { ...details, userId: requesterId, resources },
      );
      return created;
    });
  }

  /** @throws ApiError 403 when it is not the caller's, who neither is an administrator nor may decide */
  async find(principal: Principal, id: string): Promise<AccessRequestRow> {
    const request = await this.requireRequest(this.stores.autocommit, principal, id);
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
    return this.stores.accessRequests.list(this.stores.autocommit, organizationId, filter, userId, query);
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
    const isDone = await this.stores.transaction((tx) =>
      this.stores.accessRequests.decide(tx, organizationId, as, decision),
    );
    const request = await this.requireRequest(this.stores.autocommit, principal, id);
    if (isDone) return request;
    const counts = as !== 'approve' && as !== 'review';
    const { autocommit } = this.stores;
    if (!counts && (await this.stores.accessRequests.isByRequester(autocommit, organizationId, id, decision)))
      throw linkedByRequester();
    throw refusalOf(as, principal, request);
  }

  /**
   * Takes back the caller's approval: what was approved lapses, what waits for another one goes on waiting.
   * @throws ApiError 404 when there is no such request, 409 when the caller has approved nothing, or a session has used it
   */
  async withdraw(actor: Actor, id: string): Promise<AccessRequestRow> {
    const { principal } = actor;
    const { organizationId, userId } = principal;
    const isDone = await this.stores.closing.transaction((tx) =>
      this.stores.offboarding.withdraw(tx, organizationId, userId, auditActor(actor), id),
    );
    const request = await this.requireRequest(this.stores.autocommit, principal, id);
    if (isDone) return request;
    throw conflict(`You have no approval to withdraw: the access request is ${request.status}`);
  }

  private async requireRequest(tx: Tx, principal: Principal, id: string): Promise<AccessRequestRow> {
    const request = await this.stores.accessRequests.find(tx, principal.organizationId, id, principal.userId);
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
      'another person passes on)',
  );

/** Of a request that its reader may decide. */
const opensNothing = ({
  userEmail,
  resources,
}: Pick<AccessRequestRow, 'userEmail' | 'resources'>): ApiError =>
  conflict(
    `${userEmail} could not open it: no role of theirs reaches ${resources.map(({ name }) => name).join(', ')} any more, or they are ` +
      'locked down. Deny the request, or change that first',
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
  if (request.mayDecide) return opensNothing(request);
  return forbidden(`The access request is decided by ${decidersText(approverRoles)}`);
}
