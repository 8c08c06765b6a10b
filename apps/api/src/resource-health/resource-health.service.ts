import { Injectable } from '@nestjs/common';
import type { Sliced } from '#entities';
import { type HealthEventRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import type { HealthEventQueryDto } from './dto/health-event.dto';

@Injectable()
export class ResourceHealthService {
  constructor(private readonly stores: Tenants) {}

  /** Empty for a resource that does not exist or belongs to another organization. */
  list({ organizationId }: Principal, query: HealthEventQueryDto): Promise<Sliced<HealthEventRow>> {
    const { resourceId = null, eventType = null } = query;
    const { resourceHealth } = this.stores;
    return resourceHealth.list(this.stores.autocommit, organizationId, resourceId, eventType, query);
  }
}
