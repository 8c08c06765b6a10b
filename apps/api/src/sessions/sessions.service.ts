import { Injectable } from '@nestjs/common';
import {
  closing,
  Database,
  SessionStore,
  type AuditEntry,
  type SessionFilter,
  type SessionRow,
  type Slice,
  type Sliced,
} from '#entities';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { LIVE_SESSION_STATUSES, maximumDuration, type HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { badRequest, conflict, forbidden, notFound } from '../errors/api-error';
import { refuseSuspended } from './session-plan';
import { SessionWaits } from './session-waits';

const isLive = (session: SessionRow): boolean =>
  (LIVE_SESSION_STATUSES as readonly string[]).includes(session.status);

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
    refuseSuspended(principal);
    const session = await this.own(principal, id);
    const { organizationId, userId, tier } = principal;
    const resourceIds = [...new Set(session.resourceIps.map((ip) => ip.resourceId))];
    const grants = await this.sessions.grants(this.database.autocommit, organizationId, userId, resourceIds);
    const ofSession = grants.filter((grant) => resourceIds.includes(grant.resourceId));
    const maximum = maximumDuration(tier, ofSession);
    const outcome = await this.database.statement((tx) =>
      // more than the maximum is too much however much it is, and the database's hours have an end
      this.sessions.extend(
        tx,
        organizationId,
        id,
        Math.min(additionalHours, maximum.hours + 1),
        maximum.hours,
        {
          ...auditActor(principal, caller?.text ?? null),
          eventType: 'SESSION_EXTENDED',
          resourceType: 'SESSION',
          resourceId: id,
          resourceName: session.userEmail,
          details: { additionalHours },
        },
      ),
    );
    const now = await this.existing(principal, id);
    if (outcome === 'extended') return now;
    if (outcome === 'over')
      throw conflict(
        `The session cannot be extended: ${isLive(now) ? 'its time is over' : `it is ${now.status}`}`,
      );
    const words = `the session may last at most ${maximum.hours} hours in all: the maximum set by ${maximum.setBy}`;
    throw badRequest(`additionalHours is too large: ${words}`, { additionalHours: words });
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
      this.database.statement((tx) =>
        this.sessions.stop(tx, organizationId, session.id, reason, audit, trail),
      ),
    );
    const now = await this.existing(principal, session.id);
    if (!stopped) throw badRequest(`The session cannot be stopped: it is ${now.status}`);
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
