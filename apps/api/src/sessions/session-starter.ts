import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AuditEntry, Database, type Tx } from '#entities';
import {
  type GrantRow,
  IdempotencyStore,
  type NewSession,
  OrganizationStore,
  type SessionRow,
  SessionStore,
  TooManyLiveSessions,
} from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { maximumDuration, type HostAddress } from '#rules';
import { ApiSettings } from '../api.settings';
import { auditActor } from '../audit/audit-actor';
import { conflict, unprocessable } from '../errors/api-error';
import { replanIfResourceMoved } from '../resources/placement';
import type { SessionDto } from './dto/session.dto';
import type { StartSessionDto } from './dto/start-session.dto';
import { requestHash } from './idempotency-key';
import {
  chosenGrants,
  givenElsewhere,
  mustBeDetected,
  openings,
  sessionAddresses,
  sessionHours,
  type SessionAddresses,
} from './session-plan';
import { toSession } from './session.mapper';

interface Started {
  readonly session: SessionRow;
  readonly grants: readonly GrantRow[];
}

/** What a constraint decided, on its way out of the transaction that it broke. */
class AlreadyLive extends Error {
  constructor(readonly session: NewSession) {
    super('A live session of the user holds the address');
  }
}

/** Commits a session and what it wants of the clouds, then wakes a worker. Nothing waits for a cloud. */
@Injectable()
export class SessionStarter {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly idempotency: IdempotencyStore,
    private readonly organizations: OrganizationStore,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  async start(principal: Principal, asked: StartSessionDto, caller: HostAddress | null): Promise<SessionDto> {
    const started = await this.explaining(principal, () =>
      this.database.statement((tx) => this.startIn(tx, principal, asked, caller)),
    );
    this.wake(started.grants);
    return toSession(started.session);
  }

  /**
   * As `start`, and the same request under the same key gets the first answer again. A refused start is not
   * remembered: the key goes with the transaction.
   * @throws ApiError 422 when the key stands for another request
   */
  async startOnce(
    principal: Principal,
    key: string,
    asked: StartSessionDto,
    caller: HostAddress | null,
  ): Promise<{ session: SessionDto; replayed: boolean }> {
    const { organizationId, userId } = principal;
    const outcome = await this.explaining(principal, () =>
      this.database.transaction(async (tx) => {
        const claim = await this.idempotency.claim(tx, organizationId, userId, key, requestHash(asked));
        if (claim.kind !== 'first') return claim;
        const started = await this.startIn(tx, principal, asked, caller);
        const session = toSession(started.session);
        await this.idempotency.keepAnswer(tx, organizationId, userId, key, session);
        return { kind: 'started', session, grants: started.grants } as const;
      }),
    );
    if (outcome.kind === 'other-request') {
      throw unprocessable(
        'Idempotency-Key was used with another body within 24 hours: send that body again, or a new key',
      );
    }
    if (outcome.kind === 'answered') return { session: outcome.answer as SessionDto, replayed: true };
    this.wake(outcome.grants);
    return { session: outcome.session, replayed: false };
  }

  private async startIn(
    tx: Tx,
    principal: Principal,
    asked: StartSessionDto,
    caller: HostAddress | null,
  ): Promise<Started> {
    const addresses = sessionAddresses(asked, caller, {
      allowPrivate: this.settings.ALLOW_PRIVATE_ADDRESSES,
    });
    const foreign = givenElsewhere(asked, addresses, caller);
    if (foreign !== null && (await this.requiresDetectedAddress(tx, principal))) {
      throw mustBeDetected(foreign, caller);
    }
    return replanIfResourceMoved(() => this.startPlanned(tx, principal, asked, addresses, caller));
  }

  private async requiresDetectedAddress(tx: Tx, { organizationId }: Principal): Promise<boolean> {
    return (await this.organizations.settings(tx, organizationId)).requireDetectedAddress;
  }

  private async startPlanned(
    tx: Tx,
    principal: Principal,
    asked: StartSessionDto,
    addresses: SessionAddresses,
    caller: HostAddress | null,
  ): Promise<Started | 'moved'> {
    const { organizationId, userId, tier } = principal;
    const known = await this.sessions.grants(tx, organizationId, userId, asked.resourceIds ?? []);
    const grants = chosenGrants(known, asked.resourceIds);
    const maximum = maximumDuration(tier, grants);
    const session = {
      id: randomUUID(),
      userId,
      holder: asked.holder ?? '',
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      hours: sessionHours(asked.durationHours, this.settings.SESSION_DEFAULT_HOURS, maximum),
      openings: openings(addresses, grants),
      limits: {
        perUser: this.settings.MAX_LIVE_SESSIONS_PER_USER,
        perServiceUser: this.settings.MAX_LIVE_SESSIONS_PER_SERVICE_USER,
      },
    };
    const audit = startedEntry(principal, session, grants, addresses, asked, caller);
    const started = await this.sessions.start(tx, organizationId, session, audit);
    if (started === 'taken') throw new AlreadyLive(session);
    return started === 'moved' ? started : { session: started, grants };
  }

  /** Tells which session was in the way, with a connection of its own: the one that met it may be in a broken transaction. */
  private async explaining<T>(principal: Principal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AlreadyLive) throw await this.alreadyLive(principal, error.session);
      if (error instanceof TooManyLiveSessions) throw await this.tooMany(principal, error);
      throw error;
    }
  }

  private async tooMany(
    principal: Principal,
    { session, limit, isService }: TooManyLiveSessions,
  ): Promise<Error> {
    const live = await this.sessions.liveSession(this.database.autocommit, principal.organizationId, session);
    if (live) return this.alreadyLive(principal, session);
    const user = isService ? 'a service user' : 'a user';
    return conflict(`You have ${limit} live sessions, the most ${user} may have: stop one, or let one end`);
  }

  private async alreadyLive(principal: Principal, session: NewSession): Promise<Error> {
    const live = await this.sessions.liveSession(this.database.autocommit, principal.organizationId, session);
    return conflict(
      live
        ? `Session ${live.id} is already active for this user and address: stop it, extend it, or give a holder`
        : 'Another session for this user and address ended just now: try again',
    );
  }

  private wake(grants: readonly GrantRow[]): void {
    const due = grants.map(({ provider, targetId }) => ({ provider, targetIds: [targetId] }));
    this.wakeUps.wake('apply-rules', due);
  }
}

function startedEntry(
  principal: Principal,
  session: NewSession,
  grants: readonly GrantRow[],
  addresses: SessionAddresses,
  asked: StartSessionDto,
  caller: HostAddress | null,
): AuditEntry {
  const differs = givenElsewhere(asked, addresses, caller) !== null;
  return {
    ...auditActor(principal, caller?.text ?? null),
    eventType: 'SESSION_STARTED',
    resourceType: 'SESSION',
    resourceId: session.id,
    resourceName: principal.email,
    details: {
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      durationHours: session.hours,
      resources: grants.map(({ resourceId, resourceName }) => ({ id: resourceId, name: resourceName })),
      ...(principal.keyName === null ? {} : { apiKey: principal.keyName }),
      ...(differs ? { addressDiffersFromCaller: true } : {}),
    },
  };
}
