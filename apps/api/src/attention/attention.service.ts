import { Injectable } from '@nestjs/common';
import type { Sliced } from '#entities';
import type { Principal } from '#guards';
import { type AttentionRow, Tenants } from '#tenant-store';
import type { AttentionQueryDto } from './dto/attention.dto';

@Injectable()
export class AttentionService {
  constructor(private readonly stores: Tenants) {}

  list({ organizationId }: Principal, query: AttentionQueryDto): Promise<Sliced<AttentionRow>> {
    const { kind = null, severity = null } = query;
    return this.stores.attention.list(this.stores.autocommit, organizationId, kind, severity, query);
  }
}
