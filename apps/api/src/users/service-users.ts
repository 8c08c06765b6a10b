import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { AuditStore, type UserRow, UserStore } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import { badRequest, notFound } from '../errors';
import type { CreateUserDto } from './dto/user.dto';

/** RFC 2606: no mail can ever reach it, and nobody can own it. */
const DOMAIN = 'service.invalid';
const MAX_LOCAL_PART = 48;

/** Adds users for programs: no password, sign-in, MFA or mail. What they may do is what their roles and API keys say. */
@Injectable()
export class ServiceUsers {
  constructor(
    private readonly database: Database,
    private readonly users: UserStore,
    private readonly audit: AuditStore,
  ) {}

  /** @throws ApiError 404 for a role that does not exist, 400 for what only people have, or a name that is taken */
  async add(principal: Principal, asked: CreateUserDto, caller: HostAddress | null): Promise<UserRow> {
    const name = serviceName(asked);
    const { organizationId } = principal;
    const roleIds = [...new Set(asked.roleIds)];
    return this.database.transaction(async (tx) => {
      const [missing] = await this.users.missingRoles(tx, organizationId, roleIds);
      if (missing !== undefined) throw notFound(`Role ${missing} does not exist`);
      const email = `${localPartOf(name)}@${DOMAIN}`;
      const id = await this.users.createService(tx, organizationId, { email, name });
      if (id === null) {
        throw badRequest(`A service user with a name like "${name}" exists: use another name`, {
          name: 'must not be taken',
        });
      }
      await this.users.giveRoles(tx, organizationId, id, roleIds);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'USER_CREATED',
        resourceType: 'USER',
        resourceId: id,
        resourceName: email,
        details: { isService: true, roleIds },
      });
      return (await this.users.find(tx, organizationId, id))!;
    });
  }
}

/** @throws ApiError 400 for what only people have, and without a name */
function serviceName({ email, password, isOrgAdmin, name }: CreateUserDto): string {
  const given = { email, password, isOrgAdmin: isOrgAdmin === true ? true : undefined };
  const [odd] = Object.entries(given).flatMap(([field, value]) => ((value ?? null) === null ? [] : [field]));
  if (odd !== undefined) {
    const words = odd === 'isOrgAdmin' ? 'must be false' : 'must be left out';
    throw badRequest(`${odd} ${words}: a service user is for programs only`, { [odd]: words });
  }
  if (typeof name === 'string') return name;
  throw badRequest('name is needed: a service user is known by it', { name: 'must not be left out' });
}

/** Of two names that read alike only one is free: people tell service users apart by them. */
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
