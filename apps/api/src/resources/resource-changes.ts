import { isDeepStrictEqual } from 'node:util';
import type { ResourceChange, ResourceRow } from '#tenant-store';
import type { ResourceConfig } from '#rules';
import { badRequest } from '../errors/api-error';
import type { ResourceConfigDto, UpdateResourceDto } from './dto/resource.dto';
import { checkedType } from './resource-naming';

/** What a PATCH makes of a resource; which target that is, its credential helps to tell. */
export interface PlannedChange extends Omit<ResourceChange, 'object'> {
  /** its rules belong elsewhere, or let other traffic in */
  readonly targetChanged: boolean;
  /** the same target is reached with another credential, or in another region */
  readonly wayChanged: boolean;
  readonly activityGiven: boolean;
}

/** Only what was given: a field that was left out stays out. */
export function givenConfig(asked: ResourceConfigDto = {}): ResourceConfig {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

/** @throws ApiError 400 naming the field */
export function changedResource(now: ResourceRow, asked: UpdateResourceDto): PlannedChange {
  for (const field of ['provider', 'resourceType'] as const) {
    if (asked[field] !== undefined && asked[field] !== now[field]) {
      throw badRequest(`${field} cannot be changed: create another resource`, {
        [field]: `cannot be changed: it is ${now[field]}`,
      });
    }
  }
  const config = asked.config ? givenConfig(asked.config) : now.config;
  const change = {
    name: asked.name ?? now.name,
    credentialId: asked.credentialId ?? now.credentialId,
    resourceIdentifier: asked.resourceIdentifier ?? now.resourceIdentifier,
    region: asked.region === undefined ? now.region : asked.region,
    isActive: asked.isActive ?? now.isActive,
    config,
  };
  const { provider, resourceType } = now;
  checkedType({ ...change, provider, resourceType });
  return {
    ...change,
    targetChanged:
      change.resourceIdentifier !== now.resourceIdentifier || !isDeepStrictEqual(config, now.config),
    activityGiven: asked.isActive !== undefined,
    wayChanged: change.credentialId !== now.credentialId || change.region !== now.region,
  };
}
