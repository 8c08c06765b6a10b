import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Bulk, rowsOf } from '../audit/bulk';
import { badRequest } from '../errors';
import type { BulkResultsDto } from '../http/bulk.dto';
import type { Actor } from '../http/actor';
import type { BulkCreateResourcesDto, BulkLabelsDto, BulkResourcesDto } from './dto/bulk-resources.dto';
import { givenLabels, labelsRefusal, type Labels } from './labels';
import { ResourceEditingService } from './resource-editing.service';
import { ResourcesService } from './resources.service';

/** What administrators do to one resource, for many. */
@Injectable()
export class BulkResources {
  constructor(
    private readonly many: Bulk,
    private readonly resources: ResourcesService,
    private readonly editing: ResourceEditingService,
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

  /** @throws ApiError 400 when nothing is asked for */
  label(actor: Actor, { resourceIds, set = {}, remove = [] }: BulkLabelsDto): Promise<BulkResultsDto> {
    if (Object.keys(set).length + remove.length === 0) throw badRequest('Give set or remove');
    const action = { eventType: 'RESOURCE_UPDATED', resourceType: 'RESOURCE' } as const;
    const relabelled = (labels: Labels): Labels => ({
      ...Object.fromEntries(Object.entries(labels).filter(([key]) => !remove.includes(key))),
      ...set,
    });
    return this.many.alone(actor, action, rowsOf(resourceIds), async ({ id }) => {
      const now = givenLabels((await this.resources.find(actor.principal, id)).labels);
      const refusal = labelsRefusal(relabelled(now));
      if (refusal !== null) throw badRequest(`labels ${refusal}`);
      if (isDeepStrictEqual(now, relabelled(now))) return 'UNCHANGED';
      await this.editing.update(actor, id, {}, relabelled);
      return 'DONE';
    });
  }
}
