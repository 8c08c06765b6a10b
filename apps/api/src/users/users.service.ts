import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { ListQuery, Sliced, Tx } from '#entities';
import { type UserRow, Tenants } from '#tenant-store';
import { WakeUps } from '#jobs';
import type { Principal } from '#guards';
import { recordAction, type ActionObject } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import { changesBetween } from '../audit/changes';
import { forbidden, invalidField, notFound, notPossible, refuseSuspended, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { IN_ROLES, type UpdateUserDto } from './dto/user.dto';

interface Changed {
  readonly user: UserRow;
  /** the targets to wake workers for */
  readonly due: WokenTargets[];
}

@Injectable()
export class UsersService {
  constructor(
    private readonly stores: Tenants,
    private readonly wakeUps: WakeUps,
  ) {}

  list(principal: Principal, query: ListQuery): Promise<Sliced<UserRow>> {
    return this.stores.users.list(this.stores.autocommit, principal.organizationId, query);
  }

  find(principal: Principal, id: string): Promise<UserRow> {
    return this.requireUser(this.stores.autocommit, principal, id);
  }

  /** @throws ApiError 400 when the last active administrator would be demoted or deactivated */
  async update(actor: Actor, id: string, dto: UpdateUserDto): Promise<UserRow> {
    const change = (tx: Tx): Promise<Changed> => this.change(tx, actor, id, dto);
    const { user, due } =
      dto.isActive === false
        ? await this.stores.database.revocation(change)
        : await this.stores.transaction(change);
    this.wakeUps.wake('revoke-rules', due);
    return user;
  }

  private async change(tx: Tx, actor: Actor, id: string, dto: UpdateUserDto): Promise<Changed> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { recoveryAdministratorId } = await this.stores.users.lock(tx, organizationId);
    const before = await this.requireUser(tx, principal, id);
    const { name, isOrgAdmin, isActive, roleNames = before.roleNames } = dto;
    if (!isDeepStrictEqual(roleNames, before.roleNames)) {
      throw invalidField('roleNames', IN_ROLES);
    }
    if ((isActive && !before.isActive) || (isOrgAdmin && !before.isOrgAdmin)) refuseSuspended(principal);
    if (before.isService && isOrgAdmin === true) throw noServiceAdmin();
    if (isOrgAdmin === false || isActive === false) {
      refuseRecovery(before, recoveryAdministratorId, isActive === false ? 'deactivated' : 'demoted');
      await this.refuseLastLifter(tx, principal, before);
    }
    const updated = await this.stores.users.update(tx, organizationId, id, { name, isOrgAdmin, isActive });
    if (!updated) throw lastAdmin(isActive === false ? 'deactivated' : 'demoted');
    const after = await this.requireUser(tx, principal, id);
    const changed = changesBetween(before, after, ['name', 'isOrgAdmin', 'isActive']);
    if (Object.keys(changed).length === 0) return { user: after, due: [] };
    const isDeactivated = before.isActive && !after.isActive;
    await recordAction(tx, actor, 'USER_UPDATED', objectOf(after), { changed });
    return {
      user: after,
      due: isDeactivated ? await this.stores.offboarding.end(tx, organizationId, id, auditActor(actor)) : [],
    };
  }

  /** @throws ApiError 400 for the last active administrator */
  async delete(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId } = principal;
    const due = await this.stores.closing.revocation(async (tx) => {
      const { recoveryAdministratorId } = await this.stores.users.lock(tx, organizationId);
      const user = await this.requireUser(tx, principal, id);
      refuseRecovery(user, recoveryAdministratorId, 'deleted');
      await this.refuseLastLifter(tx, principal, user);
      if (!(await this.stores.users.delete(tx, organizationId, id))) throw lastAdmin('deleted');
      await this.stores.offboarding.removeFromRoles(tx, organizationId, id);
      await recordAction(tx, actor, 'USER_DELETED', objectOf(user), { roleNames: user.roleNames });
      return this.stores.offboarding.end(tx, organizationId, id, auditActor(actor));
    });
    this.wakeUps.wake('revoke-rules', due);
  }

  /** @throws ApiError 400 when the user has no MFA, 403 for the caller's own account */
  async resetMfa(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    // a stolen access token must not be enough to remove the second factor
    if (id.toLowerCase() === principal.userId && principal.mfaEnabled) throw ownMfa();
    await this.stores.transaction(async (tx) => {
      const { recoveryAdministratorId } = await this.stores.users.lock(tx, principal.organizationId);
      const user = await this.requireUser(tx, principal, id);
      refuseRecovery(user, recoveryAdministratorId, 'without MFA');
      if (!(await this.stores.mfa.disable(tx, principal.organizationId, id))) {
        throw notPossible('MFA is not enabled for the user');
      }
      await recordAction(tx, actor, 'MFA_RESET', objectOf(user));
    });
  }

  /** Ends every sign-in of a user: what is open, and API keys, stay. */
  async endSignIns(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    await this.stores.closing.transaction(async (tx) => {
      const user = await this.requireUser(tx, principal, id);
      const ended = await this.stores.signIns.endAll(tx, principal.organizationId, id);
      await recordAction(tx, actor, 'SIGN_IN_ENDED', objectOf(user), { ended });
    });
  }

  private async refuseLastLifter(tx: Tx, { organizationId }: Principal, user: UserRow): Promise<void> {
    if (!(await this.stores.lockdowns.waitsFor(tx, organizationId, user.id))) return;
    throw notPossible(`Only ${user.email} is left to lift a lockdown: lift it first`);
  }

  private async requireUser(tx: Tx, principal: Principal, id: string): Promise<UserRow> {
    const user = await this.stores.users.find(tx, principal.organizationId, id);
    if (!user) throw notFound(`User ${id} does not exist`);
    return user;
  }
}

const objectOf = ({ id, email }: UserRow): ActionObject => ({ type: 'USER', id, name: email });

function refuseRecovery({ id }: UserRow, recoveryAdministratorId: string | null, change: string): void {
  if (id !== recoveryAdministratorId) return;
  throw notPossible(
    `The recovery administrator cannot be ${change}: name another one with PATCH /organization first`,
  );
}

const noServiceAdmin = (): ApiError =>
  invalidField('isOrgAdmin', 'must be false: a service user is for programs only');

const ownMfa = (): ApiError =>
  forbidden('Your own MFA takes a code: use POST /mfa/disable, or ask another administrator');

const lastAdmin = (change: 'deleted' | 'deactivated' | 'demoted'): ApiError =>
  notPossible(`The last active administrator cannot be ${change}: make another user administrator first`);
