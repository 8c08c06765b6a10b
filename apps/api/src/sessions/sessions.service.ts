import { Injectable } from '@nestjs/common';
import type { Slice, Sliced } from '#entities';
import { type SessionFilter, type SessionRow, type StopRequest, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { HOLDING_STATUSES, LimiterPerKey, LIVE_SESSION_STATUSES, maximumDuration, TIER_LIMITS } from '#rules';
import { recordAction } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import {
  type ApiError,
  approvalRequired,
  conflict,
  forbidden,
  notFound,
  notPossible,
} from '../errors/api-error';
import { refuseLockedDown } from '../errors/refuse-locked-down';
import type { Actor } from '../http/actor';
import { SessionSettlementWaiter } from './settlement-waiter';
import { stopRequest } from './stop-request';

const isOneOf = (statuses: readonly string[], status: string): boolean => statuses.includes(status);

const isLive = ({ status }: SessionRow): boolean => isOneOf(LIVE_SESSION_STATUSES, status);

/** Requests of a key, a session's token or a user that wait at once: each costs memory. */
const MAX_WAITS = 100;

@Injectable()
export class SessionsService {
  private readonly waits = new LimiterPerKey(MAX_WAITS, 0);

  constructor(
    private readonly stores: Tenants,
    private readonly wakeUps: WakeUps,
    private readonly waiter: SessionSettlementWaiter,
  ) {}

  /** @throws ApiError 404 when it is not in the organization, 403 when it belongs to another user */
  async find(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.requireSession(principal, id);
    if (session.userId !== principal.userId && !principal.isOrgAdmin) {
      throw forbidden('The session belongs to another user');
    }
    return session;
  }

  /** Runs a request that may wait. @throws TooBusy when its caller has as many as it may */
  waiting<T>({ keyId, sessionId, userId }: Principal, work: () => Promise<T>): Promise<T> {
    return this.waits.run(keyId ?? sessionId ?? userId, work);
  }

  /** As `find`, but waits until the session is neither PENDING nor EXPIRING, or until the timeout. Checks access first. */
  async findSettled(
    principal: Principal,
    id: string,
    timeoutSeconds: number,
    disconnected: AbortSignal,
  ): Promise<SessionRow> {
    const session = await this.find(principal, id);
    if (session.status !== 'PENDING' && session.status !== 'EXPIRING') return session;
    await this.waiter.waitUntilSettled(id, timeoutSeconds, disconnected);
    return disconnected.aborted ? session : this.find(principal, id);
  }

  list(principal: Principal, filter: SessionFilter, slice: Slice): Promise<Sliced<SessionRow>> {
    return this.stores.sessions.list(this.stores.autocommit, principal.organizationId, filter, slice);
  }

  async extend(actor: Actor, id: string, additionalHours: number): Promise<SessionRow> {
    const { principal } = actor;
    const session = await this.requireOwnSession(principal, id);
    refuseLockedDown(principal);
    const { organizationId, tier } = principal;
    const tierHours = TIER_LIMITS[tier].sessionHours;
    const outcome = await this.stores.database.statement((tx) =>
      // clamped: hours beyond the maximum are refused anyway and could overflow in the database
      this.stores.sessions.extend(
        tx,
        organizationId,
        id,
        { additionalHours: Math.min(additionalHours, tierHours + 1), tierHours },
        {
          ...auditActor(actor),
          eventType: 'SESSION_EXTENDED',
          resourceType: 'SESSION',
          resourceId: id,
          resourceName: session.userEmail,
          details: { additionalHours },
        },
      ),
    );
    const now = await this.requireSession(principal, id);
    if (outcome === 'extended') return now;
    if (outcome === 'over')
      throw conflict(
        `The session cannot be extended: ${isLive(now) ? 'its time is over' : `it is ${now.status}`}`,
      );
    throw await this.extensionRefusal(principal, now);
  }

  /**
   * Prolongs the lease of one of the caller's own sessions, from now. It proves that a client lives, not that it is still at
   * the session's address: another one is returned and, once, recorded.
   * @throws ApiError 404 or 403 as for `extend`, 400 when it has no lease, 409 when it is over
   */
  async renew(actor: Actor, id: string): Promise<{ session: SessionRow; renewedFrom: string | null }> {
    const { principal } = actor;
    const { organizationId, userId } = principal;
    if (await this.stores.sessions.renew(this.stores.closing.autocommit, organizationId, id, userId)) {
      const renewed = await this.requireSession(principal, id);
      return { session: renewed, renewedFrom: await this.noteOtherAddress(actor, renewed) };
    }
    const session = await this.requireOwnSession(principal, id);
    refuseLockedDown(principal);
    if (session.leaseUntil === null)
      throw notPossible('The session cannot be renewed: it was started without leaseSeconds');
    const reason = isLive(session) ? 'its time is over' : `it is ${session.status}`;
    throw conflict(`The session cannot be renewed: ${reason}`);
  }

  /** @returns the caller's address, when it is neither let in nor the one that the session was started from */
  private async noteOtherAddress(actor: Actor, session: SessionRow): Promise<string | null> {
    const { address, principal } = actor;
    const own = address?.version === 6 ? session.ipv6Address : session.ipv4Address;
    if (!address || own === null || own === address.text) return null;
    const { organizationId } = principal;
    return this.stores.closing.transaction(async (tx) => {
      const heard = await this.stores.sessions.heardFrom(tx, organizationId, session.id, address.text);
      if (heard === 'start') return null;
      if (heard === 'known') return address.text;
      const object = { type: 'SESSION', id: session.id, name: session.userEmail };
      await recordAction(tx, actor, 'SESSION_EXTENDED', object, {
        renewedFrom: address.text,
        address: own,
      });
      return address.text;
    });
  }

  /** The error that explains why the database refused to extend a live session. */
  private async extensionRefusal(
    { organizationId, userId, tier }: Principal,
    session: SessionRow,
  ): Promise<ApiError> {
    const held = session.resourceIps.filter(({ status }) => isOneOf(HOLDING_STATUSES, status));
    const resourceIds = [...new Set(held.map(({ resourceId }) => resourceId))];
    const known = await this.stores.sessions.grants(this.stores.autocommit, organizationId, userId, {
      resourceIds,
    });
    const grants = known.filter((grant) => resourceIds.includes(grant.resourceId));
    const names = new Map(held.map(({ resourceId, resourceName }) => [resourceId, resourceName]));
    for (const resourceId of resourceIds) {
      const grant = grants.find((one) => one.resourceId === resourceId);
      if (grant?.isActive && grant.roles.length > 0) continue;
      const reason = grant && !grant.isActive ? 'is inactive' : 'is no longer assigned to you';
      return forbidden(`The session cannot be extended: resource "${names.get(resourceId)}" ${reason}`);
    }
    if (session.breakGlass || grants.some(({ roles }) => roles.every(({ approvals }) => approvals > 0)))
      throw approvalRequired(
        'The session cannot be extended: it needs approval again. Ask with POST /access-requests for a new one',
      );
    if (session.reason === null && grants.some(({ roles }) => roles.every((role) => role.requireReason)))
      throw forbidden('The session cannot be extended: it has no reason, and needs one. Start another one');
    const maximum = maximumDuration(tier, grants);
    const message = `the session may last at most ${maximum.hours} hours in all: the maximum set by ${maximum.setBy}`;
    return notPossible(`additionalHours is too large: ${message}`, {
      validationErrors: { additionalHours: message },
    });
  }

  /** Ends one of the caller's own sessions. */
  async stop(actor: Actor, id: string): Promise<SessionRow> {
    const stopped = await this.end(actor, id, 'MANUAL');
    return stoppedOrRefused(stopped, await this.requireOwnSession(actor.principal, id));
  }

  /** Ends any session in the organization. The caller is an administrator. */
  async stopByAdmin(actor: Actor, id: string): Promise<SessionRow> {
    const stopped = await this.end(actor, id, 'ADMIN');
    return stoppedOrRefused(stopped, await this.requireSession(actor.principal, id));
  }

  /** @returns false when it is not live, or not the caller's to end */
  private async end(actor: Actor, id: string, reason: StopRequest['reason']): Promise<boolean> {
    const { organizationId } = actor.principal;
    const targets = await this.stores.closing.revocation(
      (tx) => this.stores.sessions.stop(tx, organizationId, stopRequest(actor, id, reason)),
      'statement',
    );
    this.wakeUps.wake('revoke-rules', targets ?? []);
    return targets !== null;
  }

  private async requireSession(principal: Principal, id: string): Promise<SessionRow> {
    const { autocommit } = this.stores.closing;
    const session = await this.stores.sessions.find(autocommit, principal.organizationId, id);
    if (!session) throw notFound(`Session ${id} does not exist`);
    return session;
  }

  private async requireOwnSession(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.requireSession(principal, id);
    if (session.userId !== principal.userId) throw forbidden('The session belongs to another user');
    return session;
  }
}

function stoppedOrRefused(stopped: boolean, session: SessionRow): SessionRow {
  if (!stopped) throw notPossible(`The session cannot be stopped: it is ${session.status}`);
  return session;
}
