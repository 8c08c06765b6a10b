import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { Tenants } from '#tenant-store';
import { recordAction, objectNamed, type ActionObject } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import { forbidden, notFound, notPossible, refuseSuspended } from '../errors';
import type { Actor } from '../http/actor';
import { StaticIpRulesService } from '../static-ip-rules/static-ip-rules.service';
import type { EndedByLockdownDto } from './dto/lockdown.dto';

/** Ends what is open of an organization or a user, and keeps anything from being started until it is lifted. */
@Injectable()
export class LockdownService {
  constructor(
    private readonly stores: Tenants,
    private readonly staticRules: StaticIpRulesService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @param userId null: the organization @throws ApiError 404 when there is no such user, 400 when no administrator could lift it */
  async declare(
    actor: Actor,
    userId: string | null,
    asked: { readonly reason: string; readonly staticRules: boolean },
  ): Promise<EndedByLockdownDto> {
    const { organizationId } = actor.principal;
    const { woken, ended } = await this.stores.closing.revocation(async (tx) => {
      const object = await this.objectOf(tx, actor.principal, userId);
      const of = { subjectId: object.id, adminId: actor.principal.userId };
      const done = await this.stores.lockdowns.declare(tx, organizationId, of, asked, auditActor(actor));
      if (!done) throw noneToLift();
      const counts = { sessions: done.sessions, staticIpRules: done.closedRules };
      await recordAction(tx, actor, `${eventOf(userId)}_LOCKED_DOWN`, object, { ...asked, ...counts });
      return { woken: done.woken, ended: counts };
    });
    this.wakeUps.wake('revoke-rules', woken);
    return ended;
  }

  /** @throws ApiError 404 when there is none; 403 when another administrator has to lift it */
  async lift(actor: Actor, userId: string | null): Promise<void> {
    const { principal } = actor;
    const { organizationId, userId: adminId } = principal;
    const woken = await this.stores.transaction(async (tx) => {
      await this.stores.users.lock(tx, organizationId);
      const object = await this.objectOf(tx, principal, userId);
      const of = { subjectId: object.id, adminId };
      const lifted = await this.stores.lockdowns.lift(tx, organizationId, of);
      if (!lifted) throw await this.whyNot(tx, principal, object);
      if (lifted.staticRules) refuseSuspended(principal);
      await recordAction(tx, actor, `${eventOf(userId)}_LOCKDOWN_LIFTED`, object);
      return lifted.staticRules ? this.staticRules.reopen(tx, principal) : [];
    });
    this.wakeUps.wake('apply-rules', woken);
  }

  private async objectOf(tx: Tx, principal: Principal, userId: string | null): Promise<ActionObject> {
    const { organizationId, organizationName } = principal;
    if (userId === null) return objectNamed('ORGANIZATION', { id: organizationId, name: organizationName });
    const user = await this.stores.users.find(tx, organizationId, userId);
    if (!user) throw notFound(`User ${userId} does not exist`);
    return objectNamed('USER', { id: user.id, name: user.email });
  }

  private async whyNot(tx: Tx, { organizationId }: Principal, { id, name }: ActionObject): Promise<Error> {
    if (!(await this.stores.lockdowns.exists(tx, organizationId, id)))
      return notFound(`${name} is not locked down`);
    return forbidden(
      'Another administrator has to lift it: not the one who declared it, none who became one since, and none who is locked down',
    );
  }
}

const noneToLift = (): Error =>
  notPossible(
    'No other administrator who is not locked down could lift it: lock down the organization instead, with POST /organization/lockdown',
  );

const eventOf = (userId: string | null): 'ORGANIZATION' | 'USER' =>
  userId === null ? 'ORGANIZATION' : 'USER';
