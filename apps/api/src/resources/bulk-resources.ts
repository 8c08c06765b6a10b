import { Injectable } from '@nestjs/common';
import { Bulk, rowsOf } from '../audit/bulk';
import type { BulkResultsDto } from '../http/bulk.dto';
import type { Actor } from '../http/actor';
import type { BulkCreateResourcesDto, BulkResourcesDto } from './dto/bulk-resources.dto';
import { ResourcesService } from './resources.service';

/** What administrators do to one resource, for many. */
@Injectable()
export class BulkResources {
  constructor(
    private readonly many: Bulk,
    private readonly resources: ResourcesService,
  ) {}

  /** Can be repeated: a resource of the same name and target stays as it is. */
  create(actor: Actor, { resources }: BulkCreateResourcesDto): Promise<BulkResultsDto> {
    const action = { eventType: 'RESOURCE_CREATED', resourceType: 'RESOURCE' } as const;
    const rows = resources.map((dto) => ({ id: null, dto }));
    return this.many.alone(actor, action, rows, async ({ dto }) => {
      const { resource, isNew } = await this.resources.createUnless(actor, dto, true);
      return { id: resource.id, outcome: isNew ? 'DONE' : 'UNCHANGED' };
    });
  }

  verify(actor: Actor, { resourceIds }: BulkResourcesDto): Promise<BulkResultsDto> {
    const action = { eventType: 'RESOURCE_VERIFIED', resourceType: 'RESOURCE' } as const;
    return this.many.alone(actor, action, rowsOf(resourceIds), async ({ id }) => {
      await this.resources.requestVerification(actor, id);
      return 'DONE';
    });
  }
}
