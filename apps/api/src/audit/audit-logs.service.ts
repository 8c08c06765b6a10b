import { Injectable } from '@nestjs/common';
import type { Sliced } from '#entities';
import { type AuditRecordRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { forbidden } from '../errors/api-error';
import { refuseLongReading, timeRange } from '../http/time-range';
import type { AuditQueryDto } from './dto/audit-query.dto';

@Injectable()
export class AuditLogsService {
  constructor(private readonly stores: Tenants) {}

  /** @throws ApiError 403 for a key whose user is not (or no longer) an administrator, 400 when `from` is after `to` */
  async list(principal: Principal, query: AuditQueryDto): Promise<Sliced<AuditRecordRow>> {
    const { isOrgAdmin, kind, organizationId, userId } = principal;
    if (kind === 'key' && !isOrgAdmin) {
      throw forbidden('audit:read needs a key of an administrator, and the user of this key is none');
    }
    if (!isOrgAdmin && (query.userId ?? userId) !== userId)
      throw forbidden('Only an administrator reads the records of another user');
    const range = timeRange(query);
    const { result, actorType, ipAddress } = query;
    refuseLongReading({ result, actorType, ipAddress }, range.from);
    const filter = {
      concerns: isOrgAdmin ? (query.userId ?? null) : userId,
      result,
      actorTypes: actorType,
      ipAddress,
      eventTypes: query.eventType ?? null,
      actorEmail: query.actorEmail ?? null,
      resourceId: query.resourceId ?? null,
      ...range,
    };
    return this.stores.audit.list(this.stores.autocommit, organizationId, filter, query);
  }
}
