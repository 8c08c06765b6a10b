import { Injectable } from '@nestjs/common';
import { type AuditEntry, Database, type Slice, type Sliced, closing } from '#entities';
import { type SessionFilter, type SessionRow, SessionStore } from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import {
  HOLDING_STATUSES,
  LIVE_SESSION_STATUSES,
  maximumDuration,
  TIER_LIMITS,
  type HostAddress,
} from '#rules';
import { auditActor } from '../audit/audit-actor';
import { type ApiError, conflict, forbidden, notFound, notPossible } from '../errors/api-error';
import { SessionWaits } from './session-waits';

const isOneOf = (statuses: readonly string[], status: string): boolean => statuses.includes(status);

const isLive = ({ status }: SessionRow): boolean => isOneOf(LIVE_SESSION_STATUSES, status);

@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly wakeUps: WakeUps,
    private readonly waits: SessionWaits,
  ) {}

  /** @throws ApiError 404 when it is not the organization's, 403 when another user's */
  async find(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.existing(principal, id);
    if (session.userId !== principal.userId && !principal.isOrgAdmin) {
      throw forbidden('The session belongs to another user');
    }
    return session;
  }

  /** As `find`, once the session is neither PENDING nor EXPIRING, or after the wait. Who may not read it does not wait. */
  async findSettled(
    principal: Principal,
    id: string,
    waitSeconds: number,
    gone: AbortSignal,
  ): Promise<SessionRow> {
    const session = await this.find(principal, id);
    if (session.status !== 'PENDING' && session.status !== 'EXPIRING') return session;
    await this.waits.settled(id, waitSeconds, gone);
    return gone.aborted ? session : this.find(principal, id);
  }

  list(principal: Principal, filter: SessionFilter, slice: Slice): Promise<Sliced<SessionRow>> {
    return this.sessions.list(this.database.autocommit, principal.organizationId, filter, slice);
  }

  async extend(
    principal: Principal,
    id: string,
    additionalHours: number,
    caller: HostAddress | null,
  ): Promise<SessionRow> {
    const session = await this.own(principal, id);
    const { organizationId, tier } = principal;
    const tierHours = TIER_LIMITS[tier].sessionHours;
    const outcome = await this.database.statement((tx) =>
      // more than the maximum is too much however much it is, and the database's hours have an end
      this.sessions.extend(tx, organizationId, id, Math.min(additionalHours, tierHours + 1), tierHours, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'SESSION_EXTENDED',
        resourceType: 'SESSION',
        resourceId: id,
        resourceName: session.userEmail,
        details: { additionalHours },
      }),
    );
    const now = await this.existing(principal, id);
    if (outcome === 'extended') return now;
    if (outcome === 'over')
      throw conflict(
        `The session cannot be extended: ${isLive(now) ? 'its time is over' : `it is ${now.status}`}`,
      );
    throw await this.refusalToExtend(principal, now);
  }

  /** In words, why the database refused to extend a live session. */
  private async refusalToExtend(
    { organizationId, userId, tier }: Principal,
    session: SessionRow,
  ): Promise<ApiError> {
    const held = session.resourceIps.filter(({ status }) => isOneOf(HOLDING_STATUSES, status));
    const resourceIds = [...new Set(held.map(({ resourceId }) => resourceId))];
    const known = await this.sessions.grants(this.database.autocommit, organizationId, userId, resourceIds);
    const grants = known.filter((grant) => resourceIds.includes(grant.resourceId));
    const names = new Map(held.map(({ resourceId, resourceName }) => [resourceId, resourceName]));
    for (const resourceId of resourceIds) {
      const grant = grants.find((one) => one.resourceId === resourceId);
      if (grant?.isActive && grant.roles.length > 0) continue;
      const why = grant && !grant.isActive ? 'is inactive' : 'is no longer assigned to you';
      return forbidden(`The session cannot be extended: resource "${names.get(resourceId)}" ${why}`);
    }
    const maximum = maximumDuration(tier, grants);
    const words = `the session may last at most ${maximum.hours} hours in all: the maximum set by ${maximum.setBy}`;
    return notPossible(`additionalHours is too large: ${words}`, {
      validationErrors: { additionalHours: words },
    });
  }

  /** The owner ends the session. */
  async stop(principal: Principal, id: string, caller: HostAddress | null): Promise<SessionRow> {
    return this.end(principal, await this.own(principal, id), 'MANUAL', caller);
  }

  /** An admin ends anybody's session in the organization. */
  async stopByAdmin(principal: Principal, id: string, caller: HostAddress | null): Promise<SessionRow> {
    return this.end(principal, await this.existing(principal, id), 'ADMIN', caller);
  }

  private async end(
    principal: Principal,
    session: SessionRow,
    reason: 'MANUAL' | 'ADMIN',
    caller: HostAddress | null,
  ): Promise<SessionRow> {
    const audit: AuditEntry = {
      ...auditActor(principal, caller?.text ?? null),
      eventType: 'SESSION_STOPPED',
      resourceType: 'SESSION',
      resourceId: session.id,
      resourceName: session.userEmail,
      details: {
        sessionId: session.id,
        userId: session.userId,
        userEmail: session.userEmail,
        ipv4Address: session.ipv4Address,
        ipv6Address: session.ipv6Address,
        reason,
      },
    };
    const { organizationId } = principal;
    const stopped = await closing((trail) =>
      this.database.transaction((tx) =>
        this.sessions.stop(tx, organizationId, session.id, reason, audit, trail),
      ),
    );
    const now = await this.existing(principal, session.id);
    if (!stopped) throw notPossible(`The session cannot be stopped: it is ${now.status}`);
    this.wakeUps.wake('revoke-rules', stopped.targets);
    return now;
  }

  private async existing(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.sessions.find(this.database.autocommit, principal.organizationId, id);
    if (!session) throw notFound(`Session ${id} does not exist`);
    return session;
  }

  private async own(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.existing(principal, id);
    if (session.userId !== principal.userId) throw forbidden('The session belongs to another user');
    return session;
  }
}
