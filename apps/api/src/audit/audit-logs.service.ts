import { Injectable } from '@nestjs/common';
import { AuditStore, Database, type AuditRecordRow, type Sliced } from '#entities';
import type { Principal } from '#guards';
import { badRequest, forbidden } from '../errors/api-error';
import type { AuditQueryDto } from './dto/audit-query.dto';

@Injectable()
export class AuditLogsService {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
  ) {}

  /** @throws ApiError 403 for a key whose user is no admin (any more), 400 for a time that ends before it begins */
  async list(principal: Principal, query: AuditQueryDto): Promise<Sliced<AuditRecordRow>> {
    const { isOrgAdmin, kind, organizationId, userId } = principal;
    if (kind === 'key' && !isOrgAdmin) {
      throw forbidden('audit:read needs a key of an administrator, and the user of this key is none');
    }
    const from = query.from === undefined ? null : new Date(query.from);
    const to = query.to === undefined ? null : new Date(query.to);
    if (from && to && from > to) {
      throw badRequest('from must not be later than to', { from: 'must not be later than to' });
    }
    const filter = {
      concerns: isOrgAdmin ? null : userId,
      eventTypes: query.eventType ?? null,
      actorEmail: query.actorEmail ?? null,
      resourceId: query.resourceId ?? null,
      from,
      to,
    };
    return this.audit.list(this.database.autocommit, organizationId, filter, query);
  }
}
