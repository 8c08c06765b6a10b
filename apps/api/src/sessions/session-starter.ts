import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import { type AuditEntry, Database, type Tx } from '#entities';
import {
  AddressTaken,
  type GrantRow,
  IdempotencyStore,
  type NewSession,
  OffboardingStore,
  type SessionRow,
  SessionStore,
  TooManyLiveSessions,
} from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { maximumDuration, widened, type Caller } from '#rules';
import { sessionTokenHash } from '#secrets';
import { ApiSettings } from '../api.settings';
import { auditActor } from '../audit/audit-actor';
import { conflict, forbidden, unprocessable } from '../errors/api-error';
import { refuseLockedDown } from '../errors/refuse-locked-down';
import type { Actor } from '../http/actor';
import type { SessionDto, StartedSessionDto } from './dto/session.dto';
import type { StartSessionDto } from './dto/start-session.dto';
import { requestHash } from './idempotency-key';
import { SessionTokens, type TokenOf } from './session-tokens';
import { hoursOf, sessionDemand } from './session-demand';
import { type CompletedStart, type GivenPermission, SessionPermission } from './session-permission';
import { keptTimes, SessionReplacement } from './session-replacement';
import {
  selectGrants,
  fieldDifferingFromCaller,
  mustBeCallerAddress,
  newResourceIps,
  sessionAddresses,
  sessionHours,
  type SessionAddresses,
} from './session-plan';
import { toSession, withToken } from './session.mapper';

/** Attempts before a start whose plan keeps becoming outdated is refused with 409. */
const MAX_PLAN_ATTEMPTS = 3;

/** For addresses that are not the caller's. */
const NOBODY: Caller = { address: null, unusable: null };

interface Started {
  readonly session: StartedSessionDto;
  /** true: the stored response of an earlier request with the same Idempotency-Key; no new session was started */
  readonly replayed: boolean;
}

interface Inserted {
  readonly session: SessionRow;
  readonly grants: readonly GrantRow[];
  /** the targets of the session it replaces */
  readonly released: readonly WokenTargets[];
}

interface StartRequest {
  readonly actor: Actor;
  readonly dto: StartSessionDto;
  /** null: no lease was asked for, so the session has no token */
  readonly tokenOf: TokenOf | null;
}

/** Commits a session with its holders and rules, then wakes a worker. A request never waits for a provider. */
@Injectable()
export class SessionStarter {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly idempotency: IdempotencyStore,
    private readonly replacement: SessionReplacement,
    private readonly offboarding: OffboardingStore,
    private readonly permission: SessionPermission,
    private readonly tokens: SessionTokens,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  /**
   * @param key Idempotency-Key: a repeated request with the same key gets the stored first response; null: not sent
   * @throws ApiError 400, 403 or 404 when planning fails, 409 when the address has a live session or the user has too
   *   many, 422 when the key was used for a different request
   */
  async start(asked: Omit<StartRequest, 'tokenOf'>, key: string | null): Promise<Started> {
    const { principal } = asked.actor;
    refuseLockedDown(principal);
    const { leaseSeconds } = asked.dto;
    const tokenOf = leaseSeconds === undefined ? null : await this.tokens.of(principal.organizationId);
    const request = { ...asked, tokenOf };
    try {
      const started = key === null ? await this.startUnkeyed(request) : await this.startOnce(request, key);
      // after the answer was stored, which is without it
      return { ...started, session: withToken(started.session, tokenOf?.(started.session.id)) };
    } catch (error) {
      throw await this.conflictOf(principal, error);
    }
  }

  private async startUnkeyed(request: StartRequest): Promise<Started> {
    const work = (tx: Tx): Promise<Inserted> => this.planAndInsert(tx, request);
    const { session, grants, released } = await (request.dto.replaces === undefined
      ? this.database.statement(work)
      : this.database.transaction(work));
    this.wake(grants, released);
    return { session: toSession(session), replayed: false };
  }

  /** The key is rolled back with a failed start, so failures are not replayed. */
  private async startOnce(request: StartRequest, key: string): Promise<Started> {
    const { dto } = request;
    const { organizationId, userId } = request.actor.principal;
    const { started, grants, released } = await this.database.transaction(async (tx) => {
      const claim = await this.idempotency.claim(tx, organizationId, userId, key, requestHash(dto));
      if (claim.kind === 'other-request') throw keyUsed();
      if (claim.kind === 'answered')
        return { started: { session: claim.answer as SessionDto, replayed: true }, grants: [], released: [] };
      const inserted = await this.planAndInsert(tx, request);
      const session = toSession(inserted.session);
      await this.idempotency.keepAnswer(tx, organizationId, userId, key, session);
      return {
        started: { session, replayed: false },
        grants: inserted.grants,
        released: inserted.released,
      };
    });
    this.wake(grants, released);
    return started;
  }

  private async planAndInsert(tx: Tx, request: StartRequest): Promise<Inserted> {
    if (request.dto.replaces === undefined) return this.insertFor(tx, request, null);
    const { session, targets } = await this.replacement.stop(tx, request.actor, request.dto);
    const inserted = await this.insertFor(tx, request, session);
    return { ...inserted, released: targets };
  }

  /** The insert is guarded by what it was planned with: when that has changed, this plans again. */
  private async insertFor(tx: Tx, request: StartRequest, replaced: SessionRow | null): Promise<Inserted> {
    const { organizationId, userId } = request.actor.principal;
    for (let attempt = 1; attempt <= MAX_PLAN_ATTEMPTS; attempt += 1) {
      const asked = await this.permission.completed(tx, request.actor.principal, request.dto);
      const grants = await this.sessions.grants(tx, organizationId, userId, asked);
      const inserted = await this.insert(tx, request, asked, grants, replaced);
      if (inserted) return inserted;
      if (await this.offboarding.isRefused(tx, organizationId, userId)) throw refusedByIssuer();
    }
    throw conflict('What the session depends on is being changed right now: try again');
  }

  private async insert(
    tx: Tx,
    { actor, tokenOf }: StartRequest,
    asked: CompletedStart,
    known: readonly GrantRow[],
    replaced: SessionRow | null,
  ): Promise<Inserted | null> {
    const { principal } = actor;
    const policy = { allowPrivate: this.settings.ALLOW_PRIVATE_ADDRESSES };
    const addresses = sessionAddresses(asked, asked.isDetected ? actor : NOBODY, policy);
    const field = fieldDifferingFromCaller(asked, addresses, actor);
    if (field !== null && principal.requireDetectedAddress) throw mustBeCallerAddress(field, actor);
    const grants = selectGrants(known, asked);
    const planned = {
      ...this.plan(principal, asked, addresses, grants),
      ...identified(tokenOf),
      replaced: replaced && keptTimes(replaced, maximumDuration(principal.tier, grants)),
    };
    const { permission, ipv6PrefixLength } = await this.permitted(tx, principal, asked, grants, planned);
    const range = addresses.ipv6 && widened(addresses.ipv6, ipv6PrefixLength, policy);
    const session = {
      ...planned,
      permission,
      holders: newResourceIps({ ...addresses, ipv6: range }, grants),
    };
    const entries = startedEntries(actor, session, grants, {
      addressDiffers: field !== null,
      replaces: asked.replaces,
    });
    const started = await this.sessions.start(tx, principal.organizationId, session, ...entries);
    return started && { session: started, grants, released: [] };
  }

  private async permitted(
    tx: Tx,
    principal: Principal,
    asked: CompletedStart,
    grants: readonly GrantRow[],
    { ipv4Address, ipv6Address, replaced, ...planned }: Omit<NewSession, 'permission' | 'holders'>,
  ): Promise<{ permission: GivenPermission; ipv6PrefixLength: number }> {
    const hours = hoursOf(planned.hours, replaced);
    const demand = sessionDemand(principal.tier, grants, { ...asked, hours });
    const wanted = {
      resourceIds: grants.map(({ resourceId }) => resourceId),
      hours,
      ipv4: ipv4Address,
      ipv6: ipv6Address,
      reason: asked.reason,
      ticket: asked.ticket,
      approvals: demand.approvals,
      approverRoleIds: demand.approverRoles.map(({ id }) => id),
    };
    const permission = await this.permission.given(tx, principal, asked, { demand, grants, wanted });
    return { permission, ipv6PrefixLength: demand.ipv6PrefixLength };
  }

  private plan(
    { userId, tier, keyId }: Principal,
    asked: CompletedStart,
    addresses: SessionAddresses,
    grants: readonly GrantRow[],
  ): Omit<NewSession, 'id' | 'tokenHash' | 'replaced' | 'permission' | 'holders'> {
    const { SESSION_DEFAULT_HOURS, MAX_LIVE_SESSIONS_PER_USER, MAX_LIVE_SESSIONS_PER_SERVICE_USER } =
      this.settings;
    return {
      userId,
      apiKeyId: keyId,
      holder: asked.holder ?? '',
      ipv4Address: addresses.ipv4,
      ipv6Address: addresses.ipv6,
      hours: sessionHours(asked.durationHours, SESSION_DEFAULT_HOURS, maximumDuration(tier, grants)),
      leaseSeconds: asked.leaseSeconds ?? null,
      reason: asked.reason,
      ticket: asked.ticket,
      limits: {
        perUser: MAX_LIVE_SESSIONS_PER_USER,
        perServiceUser: MAX_LIVE_SESSIONS_PER_SERVICE_USER,
      },
    };
  }

  /**
   * Maps constraint violations of a start to 409 and returns every other error unchanged. Reads outside the failed
   * transaction, which accepts no more statements.
   */
  private async conflictOf({ organizationId }: Principal, error: unknown): Promise<unknown> {
    if (!(error instanceof AddressTaken || error instanceof TooManyLiveSessions)) return error;
    const live = await this.sessions.liveSession(this.database.autocommit, organizationId, error.session);
    if (live) {
      return conflict(
        `Session ${live.id} is already active for this user and address: stop it, extend it, or give a holder`,
      );
    }
    if (error instanceof AddressTaken)
      return conflict('Another session for this user and address ended just now: try again');
    const user = error.isService ? 'a service user' : 'a user';
    return conflict(
      `You have ${error.limit} live sessions, the most ${user} may have: stop one, or let one end`,
    );
  }

  private wake(grants: readonly GrantRow[], released: readonly WokenTargets[]): void {
    const due = grants.map(({ provider, targetId }) => ({ provider, targetIds: [targetId] }));
    this.wakeUps.wake('apply-rules', due);
    this.wakeUps.wake('revoke-rules', released);
  }
}

/** A new id, and the hash of its token. */
function identified(tokenOf: TokenOf | null): Pick<NewSession, 'id' | 'tokenHash'> {
  const id = randomUUID();
  return { id, tokenHash: tokenOf && sessionTokenHash(tokenOf(id)) };
}

const refusedByIssuer = (): Error =>
  forbidden(
    'Your organization’s identity provider no longer vouches for you: start a session after a company sign-in',
  );

const keyUsed = (): Error =>
  unprocessable(
    'Idempotency-Key was used with another body within 24 hours: send that body again, or a new key',
  );

/** Its start, and without approval a second one, which others are told of. */
function startedEntries(
  actor: Actor,
  session: NewSession & { readonly permission: GivenPermission },
  grants: readonly GrantRow[],
  { addressDiffers, replaces }: { addressDiffers: boolean; replaces: string | undefined },
): readonly [AuditEntry, ...AuditEntry[]] {
  const { principal } = actor;
  const { accessRequestId, approvers, brokenBy } = session.permission;
  const started: AuditEntry = {
    ...auditActor(actor),
    eventType: 'SESSION_STARTED',
    resourceType: 'SESSION',
    resourceId: session.id,
    resourceName: principal.email,
    details: {
      ipv4Address: session.ipv4Address,
      ipv6Address: session.ipv6Address,
      durationHours: session.hours,
      resources: grants.map(({ resourceId, resourceName }) => ({ id: resourceId, name: resourceName })),
      ...(principal.keyName === null ? {} : { apiKey: principal.keyName }),
      ...(addressDiffers ? { addressDiffersFromCaller: true } : {}),
      ...(replaces === undefined ? {} : { replaces }),
      ...(session.reason === null ? {} : { reason: session.reason }),
      ...(session.ticket === null ? {} : { ticket: session.ticket }),
      ...(accessRequestId === null ? {} : { accessRequestId }),
      ...(approvers.length === 0 ? {} : { approvers }),
    },
  };
  if (brokenBy === null) return [started];
  const about = { resourceType: 'ACCESS_REQUEST', resourceId: accessRequestId };
  return [
    started,
    {
      ...started,
      ...about,
      eventType: 'BREAK_GLASS_STARTED',
      details: { ...started.details, sessionId: session.id },
    },
  ];
}
