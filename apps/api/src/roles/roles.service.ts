import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ListQuery, Sliced, Tx } from '#entities';
import {
  type Assignment,
  ROLE_FIELDS,
  type RoleChanges,
  type RoleMember,
  type RoleRow,
  type Unassignment,
  Tenants,
} from '#tenant-store';
import type { Principal } from '#guards';
import { definedFields } from '#rules';
import { recordAction } from '../audit/action-records';
import { changesBetween } from '../audit/changes';
import { invalidField, nameTaken, notFound, notPossible, refuseSuspended, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { isNarrower } from '../resources/labels';
import type { CreateRoleDto, UpdateRoleDto } from './dto/role.dto';

const KIND_LABELS = { resource: 'Resource', user: 'User' } as const;

const EVENTS = {
  resource: { assigned: 'ROLE_RESOURCE_ASSIGNED', unassigned: 'ROLE_RESOURCE_UNASSIGNED' },
  user: { assigned: 'ROLE_USER_ASSIGNED', unassigned: 'ROLE_USER_UNASSIGNED' },
} as const;

@Injectable()
export class RolesService {
  constructor(private readonly stores: Tenants) {}

  list(principal: Principal, query: ListQuery): Promise<Sliced<RoleRow>> {
    return this.stores.roles.list(this.stores.autocommit, principal.organizationId, query);
  }

  async find(principal: Principal, id: string): Promise<RoleRow> {
    const role = await this.stores.roles.find(this.stores.autocommit, principal.organizationId, id);
    if (!role) throw missing(id);
    return role;
  }

  async create(actor: Actor, dto: CreateRoleDto): Promise<RoleRow> {
    const { principal } = actor;
    return this.stores.transaction(async (tx) => {
      await this.refuseMissing(tx, principal, dto);
      const role = await this.stores.roles.create(tx, principal.organizationId, {
        ...fieldsOf(dto),
        name: dto.name,
      });
      if (!role) throw nameTaken('A role', dto.name);
      await recordAction(tx, actor, 'ROLE_CREATED', { type: 'ROLE', ...role });
      await this.replaceMembers(tx, actor, role, dto);
      return requireReasonForPattern((await this.stores.roles.find(tx, principal.organizationId, role.id))!);
    });
  }

  /** @throws ApiError 400 when another role has the name */
  async update(actor: Actor, id: string, dto: UpdateRoleDto): Promise<RoleRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    return this.stores.transaction(async (tx) => {
      const before = await this.stores.roles.findLocked(tx, organizationId, id);
      if (!before) throw missing(id);
      if (widens(before, dto)) refuseSuspended(principal);
      await this.refuseMissing(tx, principal, dto);
      if (!(await this.stores.roles.update(tx, organizationId, id, fieldsOf(dto))))
        throw nameTaken('A role', dto.name ?? before.name);
      await this.replaceMembers(tx, actor, before, dto);
      const role = requireReasonForPattern((await this.stores.roles.find(tx, organizationId, id))!);
      const changed = changesBetween(before, role, ROLE_FIELDS);
      if (Object.keys(changed).length > 0) {
        await recordAction(tx, actor, 'ROLE_UPDATED', { type: 'ROLE', ...role }, { changed });
      }
      return role;
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    await this.stores.closing.transaction(async (tx) => {
      const deleted = await this.stores.roles.delete(tx, principal.organizationId, id);
      if (!deleted) throw missing(id);
      await recordAction(tx, actor, 'ROLE_DELETED', { type: 'ROLE', id, name: deleted.name });
    });
  }

  /** @param mayBe whether it may be so already @returns whether it was changed */
  assign(actor: Actor, roleId: string, other: RoleMember, mayBe = false): Promise<boolean> {
    return this.stores.transaction(async (tx) => {
      const outcome = await this.link(tx, actor, roleId, other);
      if (outcome === 'assigned' || (mayBe && outcome === 'already-assigned')) return outcome === 'assigned';
      throw refusal(outcome, roleId, other);
    });
  }

  /** As `assign`. */
  unassign(actor: Actor, roleId: string, other: RoleMember, mayBe = false): Promise<boolean> {
    return this.stores.closing.transaction(async (tx) => {
      const outcome = await this.unlink(tx, actor, roleId, other);
      if (outcome === 'unassigned' || (mayBe && outcome === 'not-assigned')) return outcome === 'unassigned';
      throw refusal(outcome, roleId, other);
    });
  }

  /** @throws ApiError 404 when a role whose members are to decide does not exist */
  private async refuseMissing(
    tx: Tx,
    { organizationId }: Principal,
    { approverRoleIds = [] }: UpdateRoleDto,
  ): Promise<void> {
    const [id] = await this.stores.users.missingRoles(tx, organizationId, approverRoleIds);
    if (id !== undefined) throw missing(id);
  }

  /**
   * A list that is left out changes nothing; what another request has assigned or removed meanwhile is as it should be.
   * @throws ApiError 404 as the request that assigns one does
   */
  private async replaceMembers(tx: Tx, actor: Actor, role: RoleRow, lists: UpdateRoleDto): Promise<void> {
    for (const kind of ['resource', 'user'] as const) {
      const before = role[`${kind}Ids`];
      const after = [...new Set(lists[`${kind}Ids`] ?? before)];
      const added = after.filter((id) => !before.includes(id));
      if (added.length > 0) refuseSuspended(actor.principal);
      for (const id of before.filter((one) => !after.includes(one)))
        await this.unlink(tx, actor, role.id, { kind, id });
      for (const id of added) {
        const outcome = await this.link(tx, actor, role.id, { kind, id });
        if (outcome === 'other-missing') throw refusal(outcome, role.id, { kind, id });
      }
    }
  }

  private async link(tx: Tx, actor: Actor, roleId: string, other: RoleMember): Promise<Assignment> {
    const outcome = await this.stores.roles.assign(tx, actor.principal.organizationId, roleId, other);
    if (outcome === 'assigned') await this.record(tx, actor, 'assigned', roleId, other);
    return outcome;
  }

  private async unlink(tx: Tx, actor: Actor, roleId: string, other: RoleMember): Promise<Unassignment> {
    const outcome = await this.stores.roles.unassign(tx, actor.principal.organizationId, roleId, other);
    if (outcome === 'unassigned') await this.record(tx, actor, 'unassigned', roleId, other);
    return outcome;
  }

  private record(
    tx: Tx,
    actor: Actor,
    done: 'assigned' | 'unassigned',
    roleId: string,
    { kind, id }: RoleMember,
  ): Promise<void> {
    const event = EVENTS[kind][done];
    const role = { type: 'ROLE' as const, id: roleId, name: null };
    return recordAction(tx, actor, event, role, { [`${kind}Id`]: id });
  }
}

const fieldsOf = (dto: UpdateRoleDto): RoleChanges =>
  Object.fromEntries(
    ROLE_FIELDS.map((field) => [
      field,
      field === 'approverRoleIds' && dto[field] ? [...new Set(dto[field])] : dto[field],
    ]),
  );

/** Whether a role allows more, or asks for less, or asks others. One without its own maximum allows the plan's. */
function widens(before: RoleRow, dto: UpdateRoleDto): boolean {
  const after = { ...before, ...definedFields(dto) };
  return (
    (after.maxSessionDurationHours ?? Infinity) > (before.maxSessionDurationHours ?? Infinity) ||
    (before.requireReason && !after.requireReason) ||
    after.reasonPattern !== before.reasonPattern ||
    after.approvals < before.approvals ||
    !isDeepStrictEqual(after.approverRoleIds, before.approverRoleIds) ||
    (after.mayBreakGlass && !before.mayBreakGlass) ||
    after.ipv6PrefixLength < before.ipv6PrefixLength ||
    !isNarrower(before.resourceSelector, after.resourceSelector)
  );
}

const missing = (id: string): ApiError => notFound(`Role ${id} does not exist`);

/** @throws ApiError 400 for a pattern that no reason would have to match */
function requireReasonForPattern(role: RoleRow): RoleRow {
  if (role.reasonPattern === null || role.requireReason) return role;
  throw invalidField('reasonPattern', 'needs requireReason: true');
}

function refusal(
  outcome: Exclude<Assignment, 'assigned'> | Exclude<Unassignment, 'unassigned'>,
  roleId: string,
  other: RoleMember,
): ApiError {
  if (outcome === 'role-missing') return missing(roleId);
  const label = `${KIND_LABELS[other.kind]} ${other.id}`;
  if (outcome === 'other-missing') return notFound(`${label} does not exist`);
  if (outcome === 'not-assigned') return notFound(`${label} is not assigned to the role`);
  return notPossible(`${label} is already assigned to the role`);
}
