import { Injectable } from '@nestjs/common';
import { Database, type Sliced } from '#entities';
import { type HealthEventRow, TenantStores } from '#tenant-store';
import type { Principal } from '#guards';
import type { HealthEventQueryDto } from './dto/health-event.dto';

@Injectable()
export class ResourceHealthService {
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
  ) {}

  /** Empty for a resource that does not exist or belongs to another organization. */
  list({ organizationId }: Principal, query: HealthEventQueryDto): Promise<Sliced<HealthEventRow>> {
    const { resourceId = null, eventType = null } = query;
    const { resourceHealth } = this.stores;
    return resourceHealth.list(this.database.autocommit, organizationId, resourceId, eventType, query);
  }
}
