import { Injectable } from '@nestjs/common';
import {
  type AuditEventType,
  Database,
  type Slice,
  type Sliced,
  type Trail,
  type Tx,
  closing,
} from '#entities';
import { AuditStore, type UserFilter, type UserRow, UserStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { changesBetween } from '../audit/changes';
import { badRequest, forbidden, notFound, notPossible, refuseSuspended, type ApiError } from '../errors';
import { Offboarding } from './offboarding';
import type { UpdateUserDto } from './dto/user.dto';

@Injectable()
export class UsersService {
  constructor(
    private readonly database: Database,
    private readonly users: UserStore,
    private readonly offboarding: Offboarding,
    private readonly audit: AuditStore,
  ) {}

  list(principal: Principal, filter: UserFilter, slice: Slice): Promise<Sliced<UserRow>> {
    return this.users.list(this.database.autocommit, principal.organizationId, filter, slice);
  }

  find(principal: Principal, id: string): Promise<UserRow> {
    return this.existing(this.database.autocommit, principal, id);
  }

  /** @throws ApiError 400 for the last active administrator who would not stay one */
  async update(
    principal: Principal,
    id: string,
    asked: UpdateUserDto,
    caller: HostAddress | null,
  ): Promise<UserRow> {
    const { organizationId } = principal;
    const { user, due } = await closing((trail) =>
      this.database.transaction(async (tx) => {
        await this.users.lock(tx, organizationId);
        const before = await this.existing(tx, principal, id);
        const { name, isOrgAdmin, isActive } = asked;
        if ((isActive && !before.isActive) || (isOrgAdmin && !before.isOrgAdmin)) refuseSuspended(principal);
        if (before.isService && isOrgAdmin === true) throw noServiceAdmin();
        const updated = await this.users.update(tx, organizationId, id, { name, isOrgAdmin, isActive });
        if (!updated) throw lastAdmin(isActive === false ? 'deactivated' : 'demoted');
        const after = await this.existing(tx, principal, id);
        const changed = changesBetween(before, after, ['name', 'isOrgAdmin', 'isActive']);
        if (Object.keys(changed).length === 0) return { user: after, due: [] };
        const leaves = before.isActive && !after.isActive;
        const to = leaves ? trail : 'audit_records';
        await this.record(tx, principal, caller, 'USER_UPDATED', after, { changed }, to);
        const actor = auditActor(principal, caller?.text ?? null);
        return {
          user: after,
          due: leaves ? await this.offboarding.end(tx, organizationId, after, actor, trail) : [],
        };
      }),
    );
    this.offboarding.wakeWorkers(due);
    return user;
  }

  /** @throws ApiError 400 for the last active administrator */
  async delete(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    const { organizationId } = principal;
    const due = await closing((trail) =>
      this.database.transaction(async (tx) => {
        await this.users.lock(tx, organizationId);
        const user = await this.existing(tx, principal, id);
        if (!(await this.users.delete(tx, organizationId, id))) throw lastAdmin('deleted');
        await this.offboarding.leaveRoles(tx, organizationId, id);
        await this.record(tx, principal, caller, 'USER_DELETED', user, { roleNames: user.roleNames }, trail);
        return this.offboarding.end(
          tx,
          organizationId,
          user,
          auditActor(principal, caller?.text ?? null),
          trail,
        );
      }),
    );
    this.offboarding.wakeWorkers(due);
  }

  /** @throws ApiError 400 when the user has no MFA, 403 for one's own account */
  async resetMfa(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    // who holds a stolen session would not need the second factor any more
    if (id.toLowerCase() === principal.userId && principal.mfaEnabled) throw ownMfa();
    await this.database.transaction(async (tx) => {
      const user = await this.existing(tx, principal, id);
      if (!(await this.users.resetMfa(tx, principal.organizationId, id))) {
        throw notPossible('MFA is not enabled for the user');
      }
      await this.record(tx, principal, caller, 'MFA_RESET', user, {});
    });
  }

  private async existing(tx: Tx, principal: Principal, id: string): Promise<UserRow> {
    const user = await this.users.find(tx, principal.organizationId, id);
    if (!user) throw notFound(`User ${id} does not exist`);
    return user;
  }

  private record(
    tx: Tx,
    principal: Principal,
    caller: HostAddress | null,
    eventType: AuditEventType,
    user: UserRow,
    details: Record<string, unknown>,
    trail: Trail = 'audit_records',
  ): Promise<void> {
    return this.audit.writeClosing(tx, principal.organizationId, trail, {
      ...auditActor(principal, caller?.text ?? null),
      eventType,
      resourceType: 'USER',
      resourceId: user.id,
      resourceName: user.email,
      details,
    });
  }
}

const noServiceAdmin = (): ApiError => {
  const words = 'must be false: a service user is for programs only';
  return badRequest(`isOrgAdmin ${words}`, { isOrgAdmin: words });
};

const ownMfa = (): ApiError =>
  forbidden('Your own MFA takes a code: use POST /mfa/disable, or ask another administrator');

const lastAdmin = (fate: 'deleted' | 'deactivated' | 'demoted'): ApiError =>
  notPossible(`The last active administrator cannot be ${fate}: make another user administrator first`);
