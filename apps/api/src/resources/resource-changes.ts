import { isDeepStrictEqual } from 'node:util';
import type { ResourceChange, ResourceRow } from '#tenant-store';
import { trafficOf, type ResourceConfig } from '#rules';
import { badRequest } from '../errors/api-error';
import type { ResourceConfigDto } from './dto/resource-config.dto';
import type { UpdateResourceDto } from './dto/resource.dto';
import { checkedType, regionOf } from './resource-naming';

/** The result of a PATCH, except its target, which depends on the credential. */
export interface PlannedChange extends Omit<ResourceChange, 'object' | 'accessId' | 'account'> {
  readonly credentialId: string;
  /** asked for; undefined: it stays, unless the identifier or another credential names one */
  readonly account: string | undefined;
  /** the resource points at another target or allows other traffic */
  readonly targetChanged: boolean;
  /** it names other ports or another protocol */
  readonly trafficChanged: boolean;
  /** the target is accessed with another credential, or in another account or region */
  readonly accessChanged: boolean;
  readonly activityGiven: boolean;
}

/** The config without undefined fields. */
export function givenConfig(dto: ResourceConfigDto = {}): ResourceConfig {
  return Object.fromEntries(Object.entries(dto).filter(([, value]) => value !== undefined));
}

/** @throws ApiError 400 naming the field */
export function changedResource(now: ResourceRow, dto: UpdateResourceDto): PlannedChange {
  for (const field of ['provider', 'resourceType'] as const) {
    if (dto[field] !== undefined && dto[field] !== now[field]) {
      throw badRequest(`${field} cannot be changed: create another resource`, {
        [field]: `cannot be changed: it is ${now[field]}`,
      });
    }
  }
  const config = dto.config ? givenConfig(dto.config) : now.config;
  const change = {
    name: dto.name ?? now.name,
    credentialId: dto.credentialId ?? now.credentialId,
    account: dto.account,
    resourceIdentifier: dto.resourceIdentifier ?? now.resourceIdentifier,
    region: dto.region === undefined ? now.region : dto.region,
    endpoint: dto.endpoint === undefined ? now.endpoint : dto.endpoint,
    isActive: dto.isActive ?? now.isActive,
    labels: dto.labels ?? now.labels,
    config,
  };
  const { provider, resourceType } = now;
  const named = { ...change, provider, resourceType };
  const region = regionOf(checkedType(named), named, dto.region);
  return {
    ...change,
    region,
    targetChanged:
      change.resourceIdentifier !== now.resourceIdentifier || !isDeepStrictEqual(config, now.config),
    trafficChanged: !isDeepStrictEqual(trafficOf(config), trafficOf(now.config)),
    activityGiven: dto.isActive !== undefined,
    accessChanged:
      change.credentialId !== now.credentialId ||
      region !== now.region ||
      (dto.account ?? now.account) !== now.account,
  };
}
