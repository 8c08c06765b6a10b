import { Injectable } from '@nestjs/common';
import { ApiKeyStore, AuditStore, Database, type ApiKeyRow, type Slice, type Sliced } from '#entities';
import { scopeNeedsPaidPlan, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { newApiKey } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { badRequest, forbidden, notFound } from '../errors/api-error';
import type { CreateApiKeyDto } from './dto/api-key.dto';

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
    const expiresAt = expiryOf(asked);
    const { plainText, prefix, hash } = newApiKey();
    const userId = asked.userId ?? principal.userId;
    const row = await this.database.transaction(async (tx) => {
      const created = await this.keys.create(tx, principal.organizationId, {
        userId,
        name: asked.name,
        description: asked.description ?? null,
        keyPrefix: prefix,
        keyHash: hash,
        scopes: [...new Set(asked.scopes)],
        expiresAt,
        createdByEmail: principal.email,
      });
      if (!created) throw notFound(`User ${userId} does not exist or is inactive`);
      await this.audit.write(tx, principal.organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'API_KEY_CREATED',
        resourceType: 'API_KEY',
        resourceId: created.id,
        resourceName: created.name,
        details: { scopes: created.scopes, userId, expiresAt: expiresAt?.toISOString() ?? null },
      });
      return created;
    });
    return { row, plainTextKey: plainText };
  }

  list(principal: Principal, slice: Slice): Promise<Sliced<ApiKeyRow>> {
    return this.keys.list(this.database.autocommit, principal.organizationId, slice);
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

function expiryOf(asked: CreateApiKeyDto): Date | null {
  // null says in words what leaving it out does
  if (asked.expiresAt === undefined || asked.expiresAt === null) return null;
  const expiresAt = new Date(asked.expiresAt);
  if (expiresAt.getTime() > Date.now()) return expiresAt;
  throw badRequest('expiresAt must be in the future', { expiresAt: 'must be in the future' });
}
