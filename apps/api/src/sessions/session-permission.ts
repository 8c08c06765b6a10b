import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { type Covered, type Permission, TenantStores, type UsableRequest } from '#tenant-store';
import type { Principal } from '#guards';
import { conflict, forbidden, invalidField, notFound } from '../errors/api-error';
import type { StartSessionDto } from './dto/start-session.dto';
import { hoursOf, matchedPatterns, needsApproval } from './session-demand';
import type { PlannedSession } from './session-plan';

/** Without approval a session lasts at most so long. */
const BREAK_GLASS_HOURS = 1;

/** What else the start asks for, completed with what its access request says. */
export interface CompletedStart extends Omit<StartSessionDto, 'reason' | 'ticket' | 'breakGlass'> {
  readonly reason: string | null;
  readonly ticket: string | null;
  readonly breakGlass: boolean;
  /** whether an address that was left out is the caller's: one that was approved is complete */
  readonly isDetected: boolean;
  /** the approved request that was named; null: none was */
  readonly request: UsableRequest | null;
}

/** Why it may start, for the session and its record. */
export interface GivenPermission extends Permission {
  /** e-mails */
  readonly approvers: readonly string[];
}

/** Decides what permits a start besides the user's roles: a reason, the approval of others, or neither in an emergency. */
@Injectable()
export class SessionPermission {
  constructor(private readonly stores: TenantStores) {}

  /**
   * @throws ApiError 404 when the request is not the caller's, 409 when it is not approved or was used, 400 or 403 when a
   *   start without approval is not asked for as it must be
   */
  async complete(tx: Tx, principal: Principal, dto: StartSessionDto): Promise<CompletedStart> {
    const { reason = null, ticket = null, breakGlass = false } = dto;
    const asked: Asked = Object.assign({}, dto, { reason, ticket, breakGlass, isDetected: true });
    if (breakGlass) return { ...withoutApproval(principal, asked), request: null };
    if (dto.accessRequestId === undefined) return { ...asked, request: null };
    const request = await this.requireUsable(tx, principal, dto.accessRequestId);
    return { ...withRequest(asked, request), request };
  }

  /**
   * @throws ApiError 403 when approval is needed, or the second factor
   */
  async requirePermission(
    tx: Tx,
    { organizationId, userId, signIn }: Principal,
    asked: CompletedStart,
    planned: PlannedSession,
  ): Promise<GivenPermission> {
    const { reason, breakGlass, request } = asked;
    const { demand, grants } = planned;
    const permission = { reasonPatterns: matchedPatterns(grants, reason), brokenBy: null, approvers: [] };
    if (breakGlass) {
      const isProven = await this.stores.mfa.isSteppedUp(tx, organizationId, userId, signIn!.id);
      if (!isProven) throw needsSecondFactor();
      return { ...permission, accessRequestId: randomUUID(), brokenBy: signIn!.id };
    }
    if (!request && demand.approvals === 0) return { ...permission, accessRequestId: null };
    const approved = await this.stores.accessRequests.covering(
      tx,
      organizationId,
      userId,
      wantedOf(planned, asked),
      request?.id ?? null,
    );
    if (!approved) throw request ? notCovered() : needsApproval(demand);
    return { ...permission, accessRequestId: approved.id, approvers: approved.approvers };
  }

  private async requireUsable(
    tx: Tx,
    { organizationId, userId }: Principal,
    id: string,
  ): Promise<UsableRequest> {
    const usable = await this.stores.accessRequests.usable(tx, organizationId, userId, id);
    if (usable) return usable;
    const found = await this.stores.accessRequests.find(tx, organizationId, id, userId);
    if (found?.userId !== userId) throw notFound(`Access request ${id} does not exist, or is another user's`);
    throw conflict(`The access request cannot be used: it is ${found.status}`);
  }
}

type Asked = Omit<CompletedStart, 'request'>;

/** What has to be approved of a planned session, where anything has. */
const wantedOf = (
  { grants, addresses, hours, replaced, demand }: PlannedSession,
  { reason, ticket }: CompletedStart,
): Covered => ({
  resourceIds: grants.map(({ resourceId }) => resourceId),
  hours: hoursOf(hours, replaced),
  ipv4: addresses.ipv4,
  ipv6: addresses.ipv6,
  reason,
  ticket,
  approvals: demand.approvals,
  approverRoleIds: demand.approverRoles.map(({ id }) => id),
});

/** What is left out is as it was asked for. */
function withRequest(asked: Asked, request: UsableRequest): Asked {
  const names = asked.resourceIds ?? asked.resourceNames;
  const isAddressed = asked.ipv4Address !== undefined || asked.ipv6Address !== undefined;
  return {
    ...asked,
    ...(names === undefined && { resourceIds: request.resourceIds }),
    ...(asked.replaces === undefined && { durationHours: asked.durationHours ?? request.durationHours }),
    ...(!isAddressed && request.ipv4Address !== null && { ipv4Address: request.ipv4Address }),
    ...(!isAddressed && request.ipv6Address !== null && { ipv6Address: request.ipv6Address }),
    isDetected: isAddressed,
    reason: asked.reason ?? request.reason,
    ticket: asked.ticket ?? request.ticket,
  };
}

function withoutApproval({ kind }: Principal, asked: Asked): Asked {
  if (kind !== 'user') throw forbidden('Only a signed-in person may start a session with breakGlass');
  for (const field of ['replaces', 'accessRequestId'] as const)
    if (asked[field] !== undefined) throw invalidField(field, 'must be left out with breakGlass');
  if (asked.reason === null) throw invalidField('reason', 'is required with breakGlass');
  const { durationHours = BREAK_GLASS_HOURS } = asked;
  if (durationHours > BREAK_GLASS_HOURS)
    throw invalidField('durationHours', `must be at most ${BREAK_GLASS_HOURS} with breakGlass`);
  return { ...asked, durationHours };
}

/** Programs tell it by its `error`. */
const needsSecondFactor = (): Error =>
  forbidden('breakGlass needs your second factor again: POST /auth/step-up {code}', 'Second factor required');

const notCovered = (): Error =>
  forbidden(
    'The access request is for other resources, another address or reason or a shorter time, or the roles ask for more by now: ' +
      'ask again with POST /access-requests',
  );
