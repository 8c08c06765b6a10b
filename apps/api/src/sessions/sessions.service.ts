import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  Database,
  SessionStore,
  type AuditEntry,
  type GrantRow,
  type SessionFilter,
  type SessionRow,
  type Slice,
} from '#entities';
import type { Principal } from '#guards';
import { WakeUps, type JobName } from '#jobs';
import { LIVE_SESSION_STATUSES, maximumDuration, type HostAddress, type Provider } from '#rules';
import { ApiSettings } from '../api.settings';
import { auditActor } from '../audit/audit-actor';
import { badRequest, conflict, forbidden, notFound } from '../errors/api-error';
import type { StartSessionDto } from './dto/start-session.dto';
import {
  chosenGrants,
  openings,
  sessionAddresses,
  sessionHours,
  type SessionAddresses,
} from './session-plan';

const isLive = (session: SessionRow): boolean =>
  (LIVE_SESSION_STATUSES as readonly string[]).includes(session.status);

@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  /** Commits the session and what it wants of the clouds, then wakes a worker. Nothing waits for a cloud. */
  async start(principal: Principal, asked: StartSessionDto, caller: HostAddress | null): Promise<SessionRow> {
    refuseSuspended(principal);
    const addresses = sessionAddresses(asked, caller, {
      allowPrivate: this.settings.ALLOW_PRIVATE_ADDRESSES,
    });
    const { organizationId, userId, tier } = principal;
    const grants = await this.sessions.grants(
      this.database.autocommit,
      organizationId,
      userId,
      asked.resourceIds ?? [],
    );
    const chosen = chosenGrants(grants, asked.resourceIds);
    const hours = sessionHours(
      asked.durationHours,
      this.settings.SESSION_DEFAULT_HOURS,
      maximumDuration(tier, chosen),
    );
    const session = {
      id: randomUUID(),
      userId,
      holder: asked.holder ?? '',
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      hours,
      openings: openings(addresses, chosen),
    };
    const audit = startedEntry(principal, session.id, addresses, hours, asked, caller);
    const started = await this.database.statement((tx) =>
      this.sessions.start(tx, organizationId, session, audit),
    );
    if (!started) throw await this.alreadyLive(principal, session);
    this.wake('apply-rules', chosen);
    return started;
  }

  /** @throws ApiError 404 when it is not the organization's, 403 when another user's */
  async find(principal: Principal, id: string): Promise<SessionRow> {
    const session = await this.existing(principal, id);
    if (session.userId !== principal.userId && !principal.isOrgAdmin) {
      throw forbidden('The session belongs to another user');
    }
    return session;
  }

  list(
    principal: Principal,
    filter: SessionFilter,
    slice: Slice,
  ): Promise<{ rows: SessionRow[]; total: number }> {
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
      this.sessions.extend(tx, organizationId, id, additionalHours, maximum.hours, {
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
    const stopped = await this.database.statement((tx) =>
      this.sessions.stop(tx, organizationId, session.id, reason, audit),
    );
    const now = await this.existing(principal, session.id);
    if (!stopped) throw badRequest(`The session cannot be stopped: it is ${now.status}`);
    for (const { provider, targetIds } of stopped.targets)
      this.wakeUps.wake('revoke-rules', provider, targetIds);
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

  private async alreadyLive(
    principal: Principal,
    session: Parameters<SessionStore['liveSession']>[2],
  ): Promise<Error> {
    const live = await this.sessions.liveSession(this.database.autocommit, principal.organizationId, session);
    return conflict(
      live
        ? `Session ${live.id} is already active for this user and address: stop it, extend it, or give a holder`
        : 'Another session for this user and address ended just now: try again',
    );
  }

  private wake(name: JobName, grants: readonly GrantRow[]): void {
    const byProvider = new Map<Provider, string[]>();
    for (const { provider, targetId } of grants) {
      byProvider.set(provider, [...(byProvider.get(provider) ?? []), targetId]);
    }
    for (const [provider, targetIds] of byProvider) this.wakeUps.wake(name, provider, targetIds);
  }
}

function refuseSuspended(principal: Principal): void {
  if (principal.suspended)
    throw forbidden('The organization is suspended: sessions can be stopped, not started or extended');
}

function startedEntry(
  principal: Principal,
  sessionId: string,
  addresses: SessionAddresses,
  hours: number,
  asked: StartSessionDto,
  caller: HostAddress | null,
): AuditEntry {
  const given = [asked.ipv4Address, asked.ipv6Address].some((address) => address !== undefined);
  const differs = ![addresses.ipv4, addresses.ipv6].includes(caller?.text ?? null);
  return {
    ...auditActor(principal, caller?.text ?? null),
    eventType: 'SESSION_STARTED',
    resourceType: 'SESSION',
    resourceId: sessionId,
    resourceName: principal.email,
    details: {
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      durationHours: hours,
      ...(principal.keyName === null ? {} : { apiKey: principal.keyName }),
      ...(given && differs ? { addressDiffersFromCaller: true } : {}),
    },
  };
}
