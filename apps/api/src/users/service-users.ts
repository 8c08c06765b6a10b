import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { Tx } from '#entities';
import { type UserRow, Tenants } from '#tenant-store';
import { WakeUps } from '#jobs';
import { recordAction, objectNamed } from '../audit/action-records';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound } from '../errors';
import type { Actor } from '../http/actor';
import type { CreateUserDto } from './dto/user.dto';

/** RFC 2606: reserved, so it never receives mail and cannot be registered. */
const DOMAIN = 'service.invalid';
const MAX_LOCAL_PART = 48;

/** Adds users for programs: no password, sign-in, MFA or mail. Their roles and API keys define their permissions. */
@Injectable()
export class ServiceUsers {
  constructor(
    private readonly stores: Tenants,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @throws ApiError 404 when a role does not exist, 400 for fields of human users or a duplicate name */
  async add(actor: Actor, dto: CreateUserDto): Promise<UserRow> {
    const name = serviceName(dto);
    return this.stores.transaction((tx) => this.insert(tx, actor, name, dto.roleIds ?? []));
  }

  /** As `add`, in the caller's transaction. */
  async insert(tx: Tx, actor: Actor, name: string, roles: readonly string[]): Promise<UserRow> {
    const { organizationId } = actor.principal;
    const roleIds = [...new Set(roles)];
    const [missing] = await this.stores.users.missingRoles(tx, organizationId, roleIds);
    if (missing !== undefined) throw notFound(`Role ${missing} does not exist`);
    const email = `${localPartOf(name)}@${DOMAIN}`;
    const id = await this.stores.users.createService(tx, organizationId, { email, name });
    if (id === null) {
      throw badRequest(`A service user with a name like "${name}" exists: use another name`, {
        name: 'must not be taken',
      });
    }
    await this.stores.users.giveRoles(tx, organizationId, id, roleIds);
    await recordAction(tx, actor, 'USER_CREATED', objectNamed('USER', { id, name: email }), {
      isService: true,
      roleIds,
    });
    return (await this.stores.users.find(tx, organizationId, id))!;
  }

  /**
   * Deletes a service user in the caller's transaction and ends its sessions and keys. One that is deleted already is
   * ignored, a person too. Call `UserStore.lock` first.
   * @returns the targets to wake workers for after the commit
   */
  async remove(tx: Tx, actor: Actor, id: string): Promise<WokenTargets[]> {
    const { organizationId } = actor.principal;
    const user = await this.stores.users.find(tx, organizationId, id);
    if (!user?.isService || !(await this.stores.users.delete(tx, organizationId, id))) return [];
    await this.stores.offboarding.removeFromRoles(tx, organizationId, id);
    await recordAction(tx, actor, 'USER_DELETED', objectNamed('USER', { id, name: user.email }), {
      roleNames: user.roleNames,
    });
    return this.stores.offboarding.end(tx, organizationId, user.id, auditActor(actor));
  }

  wakeWorkers(due: readonly WokenTargets[]): void {
    this.wakeUps.wake('revoke-rules', due);
  }
}

/** @throws ApiError 400 for fields of human users, and without a name */
function serviceName({ email, password, isOrgAdmin, name }: CreateUserDto): string {
  const given = { email, password, isOrgAdmin: isOrgAdmin === true ? true : undefined };
  const [unexpected] = Object.entries(given).flatMap(([field, value]) =>
    (value ?? null) === null ? [] : [field],
  );
  if (unexpected !== undefined) {
    const message = unexpected === 'isOrgAdmin' ? 'must be false' : 'must be left out';
    throw badRequest(`${unexpected} ${message}: a service user is for programs only`, {
      [unexpected]: message,
    });
  }
  if (typeof name === 'string') return name;
  throw badRequest('name is needed: a service user is known by it', { name: 'must not be left out' });
}

/** Normalizes the name, so that names that look alike conflict. */
function localPartOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_LOCAL_PART)
    .replace(/-$/, '');
  return slug === '' ? `service-${randomUUID().slice(0, 8)}` : slug;
}
