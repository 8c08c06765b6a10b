import { Injectable } from '@nestjs/common';
import {
  AuditStore,
  Database,
  RoleStore,
  type Assignment,
  type AuditEventType,
  type RoleRow,
  type Tx,
} from '#entities';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound } from '../errors/api-error';
import type { CreateRoleDto } from './dto/role.dto';

type Other = { readonly kind: 'resource' | 'user'; readonly id: string };

@Injectable()
export class RolesService {
  constructor(
    private readonly database: Database,
    private readonly roles: RoleStore,
    private readonly audit: AuditStore,
  ) {}

  list(principal: Principal): Promise<RoleRow[]> {
    return this.roles.list(this.database.autocommit, principal.organizationId);
  }

  async find(principal: Principal, id: string): Promise<RoleRow> {
    const role = await this.roles.find(this.database.autocommit, principal.organizationId, id);
    if (!role) throw notFound(`Role ${id} does not exist`);
    return role;
  }

  async create(principal: Principal, asked: CreateRoleDto, caller: HostAddress | null): Promise<RoleRow> {
    return this.database.transaction(async (tx) => {
      const role = await this.roles.create(tx, principal.organizationId, {
        name: asked.name,
        description: asked.description ?? null,
        maxSessionDurationHours: asked.maxSessionDurationHours ?? null,
      });
      if (!role) throw badRequest(`A role named "${asked.name}" exists`, { name: 'must not be taken' });
      await this.record(tx, principal, caller, 'ROLE_CREATED', role.id, role.name, {});
      return role;
    });
  }

  assignResource(
    principal: Principal,
    roleId: string,
    id: string,
    caller: HostAddress | null,
  ): Promise<void> {
    return this.assign(principal, roleId, { kind: 'resource', id }, caller);
  }

  assignUser(principal: Principal, roleId: string, id: string, caller: HostAddress | null): Promise<void> {
    return this.assign(principal, roleId, { kind: 'user', id }, caller);
  }

  private assign(
    principal: Principal,
    roleId: string,
    other: Other,
    caller: HostAddress | null,
  ): Promise<void> {
    const { organizationId } = principal;
    return this.database.transaction(async (tx) => {
      const outcome =
        other.kind === 'resource'
          ? await this.roles.assignResource(tx, organizationId, roleId, other.id)
          : await this.roles.assignUser(tx, organizationId, roleId, other.id);
      refuse(outcome, roleId, other);
      const event = other.kind === 'resource' ? 'ROLE_RESOURCE_ASSIGNED' : 'ROLE_USER_ASSIGNED';
      await this.record(tx, principal, caller, event, roleId, null, { [`${other.kind}Id`]: other.id });
    });
  }

  private record(
    tx: Tx,
    principal: Principal,
    caller: HostAddress | null,
    eventType: AuditEventType,
    roleId: string,
    roleName: string | null,
    details: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.write(tx, principal.organizationId, {
      ...auditActor(principal, caller?.text ?? null),
      eventType,
      resourceType: 'ROLE',
      resourceId: roleId,
      resourceName: roleName,
      details,
    });
  }
}

/** @throws ApiError unless the assignment was made */
function refuse(outcome: Assignment, roleId: string, other: Other): void {
  if (outcome === 'role-missing') throw notFound(`Role ${roleId} does not exist`);
  if (outcome === 'other-missing') {
    throw notFound(`${other.kind === 'resource' ? 'Resource' : 'User'} ${other.id} does not exist`);
  }
  if (outcome === 'already-assigned') throw badRequest(`The ${other.kind} is already assigned to the role`);
}
