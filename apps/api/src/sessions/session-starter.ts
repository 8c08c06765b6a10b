import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { Tx } from '#entities';
import { type GrantRow, type NewSession, type SessionRow, Tenants } from '#tenant-store';
import { WakeUps } from '#jobs';
import type { OrganizationId } from '#rules';
import { MasterKeys, sessionToken, sessionTokenHash, unwrapDataKey } from '#secrets';
import { DataKeys } from '../credentials/data-keys';
import { conflict, forbidden, unprocessable } from '../errors/api-error';
import { refuseLockedDown } from '../errors/refuse-locked-down';
import type { Actor } from '../http/actor';
import type { SessionDto, StartedSessionDto } from './dto/session.dto';
import type { StartSessionDto } from './dto/start-session.dto';
import { requestHash } from './idempotency-key';
import { newSession, startedEntries } from './new-session';
import { type CompletedStart, SessionPermission } from './session-permission';
import type { PlannedSession } from './session-plan';
import { SessionPlanner } from './session-planner';
import { SessionReplacement } from './session-replacement';
import { startConflict } from './start-conflict';
import { toSession, toStarted } from './session.mapper';

/** Attempts before a start whose plan keeps becoming outdated is refused with 409. */
const MAX_PLAN_ATTEMPTS = 3;

/** For a start whose plan keeps becoming outdated. */
export const OUTDATED = 'What the session depends on is being changed right now: try again';

interface Started {
  readonly session: StartedSessionDto;
  /** true: the stored response of an earlier request with the same Idempotency-Key; no new session was started */
  readonly replayed: boolean;
}

interface Inserted {
  readonly session: SessionRow;
  readonly grants: readonly GrantRow[];
  readonly inactiveResources: PlannedSession['inactiveResources'];
  /** the targets of the session it replaces */
  readonly released: readonly WokenTargets[];
}

type TokenOf = (sessionId: string) => string;

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
    private readonly stores: Tenants,
    private readonly replacement: SessionReplacement,
    private readonly planner: SessionPlanner,
    private readonly permission: SessionPermission,
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
    private readonly wakeUps: WakeUps,
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
    const tokenOf = leaseSeconds === undefined ? null : await this.tokensOf(principal.organizationId);
    const request = { ...asked, tokenOf };
    try {
      const started = key === null ? await this.startUnkeyed(request) : await this.startOnce(request, key);
      // after the answer was stored, which is without it
      return {
        ...started,
        session: toStarted(started.session, { sessionToken: tokenOf?.(started.session.id) }),
      };
    } catch (error) {
      throw await startConflict(this.stores.autocommit, this.stores.sessions, principal, error);
    }
  }

  /**
   * Tokens are derived from the organization's data key: a repeated request gets the same one, and none is stored. Not within a
   * transaction: it may need a connection of its own.
   */
  private async tokensOf(organization: OrganizationId): Promise<TokenOf> {
    const key = unwrapDataKey(this.masterKeys, await this.dataKeys.of(organization));
    return (sessionId) => sessionToken(key, sessionId);
  }

  private async startUnkeyed(request: StartRequest): Promise<Started> {
    const work = (tx: Tx): Promise<Inserted> => this.planAndInsert(tx, request);
    const inserted = await (request.dto.replaces === undefined
      ? this.stores.database.statement(work)
      : this.stores.transaction(work));
    this.wake(inserted.grants, inserted.released);
    return { session: toStarted(toSession(inserted.session), inserted), replayed: false };
  }

  /** The key is rolled back with a failed start, so failures are not replayed. */
  private async startOnce(request: StartRequest, key: string): Promise<Started> {
    const { dto } = request;
    const { organizationId, userId } = request.actor.principal;
    const { started, grants, released } = await this.stores.transaction(async (tx) => {
      const claim = await this.stores.idempotency.claim(tx, organizationId, userId, key, requestHash(dto));
      if (claim.kind === 'other-request') throw keyUsed();
      if (claim.kind === 'answered')
        return { started: { session: claim.answer as SessionDto, replayed: true }, grants: [], released: [] };
      const inserted = await this.planAndInsert(tx, request);
      const session = toStarted(toSession(inserted.session), inserted);
      await this.stores.idempotency.keepAnswer(tx, organizationId, userId, key, session);
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
      const asked = await this.permission.complete(tx, request.actor.principal, request.dto);
      const inserted = await this.insert(tx, request, asked, replaced);
      if (inserted) return inserted;
      if (await this.stores.offboarding.isRefused(tx, organizationId, userId)) throw refusedByIssuer();
    }
    throw conflict(OUTDATED);
  }

  private async insert(
    tx: Tx,
    { actor, tokenOf }: StartRequest,
    asked: CompletedStart,
    replaced: SessionRow | null,
  ): Promise<Inserted | null> {
    const { principal } = actor;
    const planned = await this.planner.plan(tx, actor, asked, replaced);
    const { grants, inactiveResources, addressDiffers } = planned;
    const permission = await this.permission.requirePermission(tx, principal, asked, planned);
    const session = {
      ...newSession(principal, asked, planned, permission),
      ...identified(tokenOf),
    };
    const entries = startedEntries(actor, session, grants, { addressDiffers, replaces: asked.replaces });
    const started = await this.stores.sessions.start(tx, principal.organizationId, session, ...entries);
    return started && { session: started, grants, inactiveResources, released: [] };
  }

  private wake(grants: readonly GrantRow[], released: readonly WokenTargets[]): void {
    const due = grants.map(({ provider, targetId }) => ({ provider, targetIds: [targetId] }));
    this.wakeUps.wake('apply-rules', due);
    this.wakeUps.wake('revoke-rules', released);
  }
}

function identified(tokenOf: TokenOf | null): Pick<NewSession, 'id' | 'tokenHash'> {
  const id = randomUUID();
  return { id, tokenHash: tokenOf && sessionTokenHash(tokenOf(id)) };
}

export const refusedByIssuer = (): Error =>
  forbidden(
    'Your organization’s identity provider no longer vouches for you: start a session after a company sign-in',
  );

const keyUsed = (): Error =>
  unprocessable(
    'Idempotency-Key was used with another body within 24 hours: send that body again, or a new key',
  );
