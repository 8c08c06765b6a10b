import { Injectable } from '@nestjs/common';
import { Database, type Slice, type Sliced } from '#entities';
import { type ApiKeyRow, ApiKeyStore, AuditStore, type KeyOwner } from '#tenant-store';
import { scopeNeedsPaidPlan, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { newApiKey } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { badRequest, forbidden, notFound } from '../errors/api-error';
import type { ApiKeyQueryDto, CreateApiKeyDto } from './dto/api-key.dto';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeyStore,
    private readonly audit: AuditStore,
  ) {}

  /** @returns the record, and the key itself, which is kept nowhere */
  async create(
    principal: Principal,
    asked: CreateApiKeyDto,
    caller: HostAddress | null,
  ): Promise<{ row: ApiKeyRow; plainTextKey: string }> {
    refuseBeyondPlan(principal, asked);
    const agents = agentsOf(asked);
    const expiresAt = expiryOf(asked);
    const { plainText, prefix, hash } = newApiKey();
    const userId = asked.userId ?? principal.userId;
    const row = await this.database.transaction(async (tx) => {
      const owner = await this.keys.lockOwner(tx, principal.organizationId, userId);
      if (!owner) throw notFound(`User ${userId} does not exist or is inactive`);
      refuseBeyondOwner(owner, asked);
      const created = await this.keys.create(tx, principal.organizationId, {
        userId,
        name: asked.name,
        description: asked.description ?? null,
        keyPrefix: prefix,
        keyHash: hash,
        scopes: [...new Set(asked.scopes)],
        agents,
        expiresAt,
        createdByEmail: principal.email,
      });
      await this.audit.write(tx, principal.organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'API_KEY_CREATED',
        resourceType: 'API_KEY',
        resourceId: created.id,
        resourceName: created.name,
        details: { scopes: created.scopes, userId, agents, expiresAt: expiresAt?.toISOString() ?? null },
      });
      return created;
    });
    return { row, plainTextKey: plainText };
  }

  list(principal: Principal, { userId }: ApiKeyQueryDto, slice: Slice): Promise<Sliced<ApiKeyRow>> {
    return this.keys.list(this.database.autocommit, principal.organizationId, { userId }, slice);
  }

  async revoke(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      const revoked = await this.keys.revoke(tx, principal.organizationId, id);
      if (!revoked) throw notFound(`API key ${id} does not exist or is revoked already`);
      await this.audit.write(tx, principal.organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'API_KEY_REVOKED',
        resourceType: 'API_KEY',
        resourceId: id,
        resourceName: revoked.name,
      });
    });
  }
}

function refuseBeyondPlan(principal: Principal, asked: CreateApiKeyDto): void {
  const beyond = asked.scopes.filter((scope) => scopeNeedsPaidPlan(scope));
  if (principal.tier === 'FREE' && beyond.length > 0) {
    throw forbidden(
      `API keys with ${beyond.join(', ')} need the Paid plan: subscribe with POST /billing/subscribe`,
    );
  }
}

/** A key never exceeds its user: a scope that would never work is refused when the key is made. */
function refuseBeyondOwner(owner: KeyOwner, { scopes }: CreateApiKeyDto): void {
  if (owner.isOrgAdmin || !scopes.includes('audit:read')) return;
  const message = 'must not hold audit:read: the user the key acts for is no administrator';
  throw badRequest(`scopes ${message}`, { scopes: message });
}

/** The names in lower case, each once, as hosts have them. */
function agentsOf({ agents, scopes }: CreateApiKeyDto): string[] {
  if (agents === undefined || agents === null) return [];
  if (scopes.includes('agent:connect')) return [...new Set(agents.map((name) => name.toLowerCase()))];
  const message = 'must be left out: only a key with the scope agent:connect serves hosts';
  throw badRequest(`agents ${message}`, { agents: message });
}

function expiryOf(asked: CreateApiKeyDto): Date | null {
  // null says in words what leaving it out does
  if (asked.expiresAt === undefined || asked.expiresAt === null) return null;
  const expiresAt = new Date(asked.expiresAt);
  if (expiresAt.getTime() > Date.now()) return expiresAt;
  throw badRequest('expiresAt must be in the future', { expiresAt: 'must be in the future' });
}
