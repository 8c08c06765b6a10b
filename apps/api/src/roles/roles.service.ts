import { Injectable } from '@nestjs/common';
import { type AuditEventType, Database, type Slice, type Sliced, type Tx } from '#entities';
import { type Assignment, AuditStore, type RoleRow, RoleStore, type Unassignment } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { changesBetween } from '../audit/changes';
import { notFound, notPossible, refuseSuspended, type ApiError } from '../errors';
import type { CreateRoleDto, UpdateRoleDto } from './dto/role.dto';

type Other = { readonly kind: 'resource' | 'user'; readonly id: string };

/** Who does it, and from where. */
type By = { readonly principal: Principal; readonly caller: HostAddress | null };

const KIND_LABELS = { resource: 'Resource', user: 'User' } as const;

@Injectable()
export class RolesService {
  constructor(
    private readonly database: Database,
    private readonly roles: RoleStore,
    private readonly audit: AuditStore,
  ) {}

  list(principal: Principal, slice: Slice): Promise<Sliced<RoleRow>> {
    return this.roles.list(this.database.autocommit, principal.organizationId, slice);
  }

  async find(principal: Principal, id: string): Promise<RoleRow> {
    const role = await this.roles.find(this.database.autocommit, principal.organizationId, id);
    if (!role) throw missing(id);
    return role;
  }

  async create(principal: Principal, asked: CreateRoleDto, caller: HostAddress | null): Promise<RoleRow> {
    return this.database.transaction(async (tx) => {
      const role = await this.roles.create(tx, principal.organizationId, {
        name: asked.name,
        description: asked.description ?? null,
        maxSessionDurationHours: asked.maxSessionDurationHours ?? null,
      });
      if (!role) throw nameTaken(asked.name);
      await this.record(tx, { principal, caller }, 'ROLE_CREATED', role, {});
      return role;
    });
  }

  /** @throws ApiError 400 when another role has the name */
  async update(
    principal: Principal,
    id: string,
    asked: UpdateRoleDto,
    caller: HostAddress | null,
  ): Promise<RoleRow> {
    const { organizationId } = principal;
    return this.database.transaction(async (tx) => {
      const before = await this.roles.findLocked(tx, organizationId, id);
      if (!before) throw missing(id);
      if (allowsLonger(before, asked)) refuseSuspended(principal);
      const outcome = await this.roles.update(tx, organizationId, id, asked);
      if (outcome === 'name-taken') throw nameTaken(asked.name ?? before.name);
      const role = (await this.roles.find(tx, organizationId, id))!;
      const changed = changesBetween(before, role, ['name', 'description', 'maxSessionDurationHours']);
      if (Object.keys(changed).length > 0) {
        await this.record(tx, { principal, caller }, 'ROLE_UPDATED', role, { changed });
      }
      return role;
    });
  }

  async delete(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      const deleted = await this.roles.delete(tx, principal.organizationId, id);
      if (!deleted) throw missing(id);
      await this.record(tx, { principal, caller }, 'ROLE_DELETED', { id, name: deleted.name }, {});
    });
  }

  assignResource(
    principal: Principal,
    roleId: string,
    id: string,
    caller: HostAddress | null,
  ): Promise<void> {
    return this.assign({ principal, caller }, roleId, { kind: 'resource', id });
  }

  assignUser(principal: Principal, roleId: string, id: string, caller: HostAddress | null): Promise<void> {
    return this.assign({ principal, caller }, roleId, { kind: 'user', id });
  }

  unassignResource(
    principal: Principal,
    roleId: string,
    id: string,
    caller: HostAddress | null,
  ): Promise<void> {
    return this.unassign({ principal, caller }, roleId, { kind: 'resource', id });
  }

  unassignUser(principal: Principal, roleId: string, id: string, caller: HostAddress | null): Promise<void> {
    return this.unassign({ principal, caller }, roleId, { kind: 'user', id });
  }

  private assign(by: By, roleId: string, other: Other): Promise<void> {
    const { organizationId } = by.principal;
    return this.database.transaction(async (tx) => {
      const outcome =
        other.kind === 'resource'
          ? await this.roles.assignResource(tx, organizationId, roleId, other.id)
          : await this.roles.assignUser(tx, organizationId, roleId, other.id);
      if (outcome !== 'assigned') throw refusal(outcome, roleId, other);
      const event = other.kind === 'resource' ? 'ROLE_RESOURCE_ASSIGNED' : 'ROLE_USER_ASSIGNED';
      await this.record(tx, by, event, { id: roleId, name: null }, { [`${other.kind}Id`]: other.id });
    });
  }

  private unassign(by: By, roleId: string, other: Other): Promise<void> {
    const { organizationId } = by.principal;
    return this.database.transaction(async (tx) => {
      const outcome =
        other.kind === 'resource'
          ? await this.roles.unassignResource(tx, organizationId, roleId, other.id)
          : await this.roles.unassignUser(tx, organizationId, roleId, other.id);
      if (outcome !== 'unassigned') throw refusal(outcome, roleId, other);
      const event = other.kind === 'resource' ? 'ROLE_RESOURCE_UNASSIGNED' : 'ROLE_USER_UNASSIGNED';
      await this.record(tx, by, event, { id: roleId, name: null }, { [`${other.kind}Id`]: other.id });
    });
  }

  private record(
    tx: Tx,
    { principal, caller }: By,
    eventType: AuditEventType,
    role: { readonly id: string; readonly name: string | null },
    details: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.write(tx, principal.organizationId, {
      ...auditActor(principal, caller?.text ?? null),
      eventType,
      resourceType: 'ROLE',
      resourceId: role.id,
      resourceName: role.name,
      details,
    });
  }
}

/** Without hours of its own a role allows as many as the plan. */
const allowsLonger = (before: RoleRow, { maxSessionDurationHours: asked }: UpdateRoleDto): boolean =>
  asked !== undefined && (asked ?? Infinity) > (before.maxSessionDurationHours ?? Infinity);

const missing = (id: string): ApiError => notFound(`Role ${id} does not exist`);

const nameTaken = (name: string): ApiError =>
  notPossible(`A role named "${name}" exists: choose another name`, {
    validationErrors: { name: 'must not be taken' },
  });

function refusal(
  outcome: Exclude<Assignment, 'assigned'> | Exclude<Unassignment, 'unassigned'>,
  roleId: string,
  other: Other,
): ApiError {
  if (outcome === 'role-missing') return missing(roleId);
  const named = `${KIND_LABELS[other.kind]} ${other.id}`;
  if (outcome === 'other-missing') return notFound(`${named} does not exist`);
  if (outcome === 'not-assigned') return notFound(`${named} is not assigned to the role`);
  return notPossible(`${named} is already assigned to the role`);
}
