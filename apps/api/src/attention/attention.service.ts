import { Injectable } from '@nestjs/common';
import { Database, type Sliced } from '#entities';
import type { Principal } from '#guards';
import { type AttentionRow, TenantStores } from '#tenant-store';
import type { AttentionQueryDto } from './dto/attention.dto';

@Injectable()
export class AttentionService {
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
  ) {}

  list({ organizationId }: Principal, query: AttentionQueryDto): Promise<Sliced<AttentionRow>> {
    const { kind = null, severity = null } = query;
    return this.stores.attention.list(this.database.autocommit, organizationId, kind, severity, query);
  }
}
