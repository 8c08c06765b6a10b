import { Injectable } from '@nestjs/common';
import type { ListQuery, Sliced } from '#entities';
import { type ApiKeyRow, type KeyOwner, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { newApiKey } from '#secrets';
import { recordAction, objectNamed } from '../audit/action-records';
import { invalidField, notFound } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { Plans } from '../plans/plans';
import type { CreateApiKeyDto } from './dto/api-key.dto';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly stores: Tenants,
    private readonly plans: Plans,
  ) {}

  /** @returns the record and the plain key, which is not stored */
  async create(actor: Actor, dto: CreateApiKeyDto): Promise<{ row: ApiKeyRow; plainTextKey: string }> {
    const { principal } = actor;
    this.plans.refuseBeyond(principal.tier, 'API keys', dto.scopes);
    const agents = agentsOf(dto);
    const expiresAt = expiryOf(dto);
    const { plainText, prefix, hash } = newApiKey();
    const userId = dto.userId ?? principal.userId;
    const row = await this.stores.transaction(async (tx) => {
      const owner = await this.stores.apiKeys.lockOwner(tx, principal.organizationId, userId);
      if (!owner) throw notFound(`User ${userId} does not exist or is inactive`);
      refuseBeyondOwner(owner, dto);
      const created = await this.stores.apiKeys.create(tx, principal.organizationId, {
        userId,
        name: dto.name,
        description: dto.description ?? null,
        keyPrefix: prefix,
        keyHash: hash,
        scopes: [...new Set(dto.scopes)],
        agents,
        expiresAt,
        createdByEmail: principal.email,
      });
      await recordAction(tx, actor, 'API_KEY_CREATED', objectNamed('API_KEY', created), {
        scopes: created.scopes,
        userId,
        agents,
        expiresAt: expiresAt?.toISOString() ?? null,
      });
      return created;
    });
    return { row, plainTextKey: plainText };
  }

  list(principal: Principal, query: ListQuery): Promise<Sliced<ApiKeyRow>> {
    return this.stores.apiKeys.list(this.stores.autocommit, principal.organizationId, query);
  }

  async revoke(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    await this.stores.closing.transaction(async (tx) => {
      const revoked = await this.stores.apiKeys.revoke(tx, principal.organizationId, id);
      if (!revoked) throw notFound(`API key ${id} does not exist or is revoked already`);
      await recordAction(tx, actor, 'API_KEY_REVOKED', { type: 'API_KEY', id, name: revoked.name });
    });
  }
}

/** A key never exceeds its user's permissions: a scope that would never work is refused on creation. */
function refuseBeyondOwner(owner: KeyOwner, { scopes }: CreateApiKeyDto): void {
  if (owner.isOrgAdmin || !scopes.includes('audit:read')) return;
  throw invalidField('scopes', 'must not hold audit:read: the user the key acts for is no administrator');
}

/** The names in lower case, without duplicates. */
function agentsOf({ agents, scopes }: CreateApiKeyDto): string[] {
  if (agents === undefined || agents === null) return [];
  if (scopes.includes('agent:connect')) return [...new Set(agents.map((name) => name.toLowerCase()))];
  throw invalidField('agents', 'must be left out: only a key with the scope agent:connect serves hosts');
}

function expiryOf(dto: CreateApiKeyDto): Date | null {
  if (dto.expiresAt === undefined || dto.expiresAt === null) return null;
  const expiresAt = new Date(dto.expiresAt);
  if (expiresAt.getTime() > Date.now()) return expiresAt;
  throw invalidField('expiresAt', 'must be in the future');
}
