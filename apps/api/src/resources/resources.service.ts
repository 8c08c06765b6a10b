import { Injectable } from '@nestjs/common';
import type { ListQuery, Slice, Sliced } from '#entities';
import { type ResourceRow, Tenants } from '#tenant-store';
import { DriverError } from '#drivers';
import { EnginePort, type TargetRuleRow } from '#engine-store/port';
import type { Principal } from '#guards';
import { RETRYABLE_KINDS, TIER_LIMITS } from '#rules';
import { recordAction, objectNamed } from '../audit/action-records';
import { badRequest, forbidden, notFound, notPossible, type ApiError } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { Plans } from '../plans/plans';
import type { CreateResourceDto, ResourceGrant } from './dto/resource.dto';
import { HostReleases } from './host-releases';
import { lockAccess } from './provider-credential';
import { givenConfig } from './resource-changes';
import { checkedType, regionOf, targetNameOf } from './resource-naming';
import { refuseFullTarget } from './target-limit';
import { ResourceVerifier } from './resource-verifier';

/** Filters by what answers to members do not show. */
const OF_ADMINISTRATORS = ['roleId', 'state'];

@Injectable()
export class ResourcesService {
  constructor(
    private readonly stores: Tenants,
    private readonly engine: EnginePort,
    private readonly verifier: ResourceVerifier,
    private readonly releases: HostReleases,
    private readonly plans: Plans,
  ) {}

  /** @throws ApiError 403 when a member asks about what only administrators see */
  list({ organizationId, userId, isOrgAdmin }: Principal, query: ListQuery): Promise<Sliced<ResourceRow>> {
    const hidden = OF_ADMINISTRATORS.find((name) => query[name] !== undefined);
    if (hidden !== undefined && !isOrgAdmin) throw forbidden(`${hidden} is for administrators: leave it out`);
    const assignedTo = query['assigned'] === true ? userId : null;
    return this.stores.resources.list(this.stores.autocommit, organizationId, query, assignedTo);
  }

  /** What the caller's roles allow on each of their resources, by the resource's id. */
  async grantsOf({ organizationId, userId, tier }: Principal): Promise<ReadonlyMap<string, ResourceGrant>> {
    const ofTier = TIER_LIMITS[tier].sessionHours;
    const granted = await this.stores.resources.listGranted(this.stores.autocommit, organizationId, userId);
    return new Map(
      granted.map(({ resourceId, hours, ...asked }) => [
        resourceId,
        { ...asked, maxSessionDurationHours: Math.min(hours ?? ofTier, ofTier) },
      ]),
    );
  }

  async find(principal: Principal, id: string): Promise<ResourceRow> {
    const resource = await this.stores.resources.find(this.stores.autocommit, principal.organizationId, id);
    if (!resource) throw resourceMissing(id);
    return resource;
  }

  /** What is on the resource's target now, other organizations' rules included. */
  async rulesOf(principal: Principal, id: string, slice: Slice): Promise<Sliced<TargetRuleRow>> {
    const { targetId } = await this.find(principal, id);
    return this.engine.targetRules.list(this.stores.autocommit, principal.organizationId, targetId, slice);
  }

  async create(actor: Actor, dto: CreateResourceDto): Promise<ResourceRow> {
    return (await this.createUnless(actor, dto, false)).resource;
  }

  /** @param known whether one of this name and target is left as it is */
  createUnless(
    actor: Actor,
    dto: CreateResourceDto,
    known: boolean,
  ): Promise<{ resource: ResourceRow; isNew: boolean }> {
    const { principal } = actor;
    const { name, credentialId, provider, resourceType, resourceIdentifier } = dto;
    const given = { provider, resourceType, resourceIdentifier, config: givenConfig(dto.config) };
    const type = checkedType({ ...given, region: dto.region });
    const named = { ...given, region: regionOf(type, given, dto.region) };
    const { organizationId } = principal;
    return this.stores.transaction(async (tx) => {
      const { hints, ...access } = await lockAccess(this.stores, tx, organizationId, credentialId, named, {
        given: dto.account,
        now: null,
        stays: false,
      });
      const hasRoom = await this.stores.resources.hasRoom(tx, organizationId, this.plans.tierOf);
      const object = targetNameOf(named, type, hints, organizationId);
      const same = known ? await this.stores.resources.findSame(tx, organizationId, name, object.key) : null;
      if (same) return { resource: same, isNew: false };
      if (!hasRoom) {
        throw notPossible(
          `The Free plan has room for ${this.plans.free.limits.resources} resources: delete one, or ${this.plans.subscribing}`,
          { code: 'MAX_RESOURCES_REACHED' },
        );
      }
      await this.releases.apply(tx, organizationId, { from: null, to: named, releasePorts: false });
      const targetId = await this.stores.resources.target(tx, organizationId, { ...named, object });
      await refuseFullTarget(this.stores.resources, tx, organizationId, targetId, { ...named, id: null });
      const created = await this.stores.resources.create(tx, organizationId, {
        ...named,
        ...access,
        name,
        targetId,
        endpoint: dto.endpoint ?? null,
        labels: dto.labels ?? {},
      });
      await recordAction(tx, actor, 'RESOURCE_CREATED', objectNamed('RESOURCE', created), {
        provider: created.provider,
        resourceIdentifier: created.resourceIdentifier,
      });
      return { resource: created, isNew: true };
    });
  }

  /** Has a worker verify it soon: the list says with what outcome, by `state`. */
  async requestVerification(actor: Actor, id: string): Promise<void> {
    const { organizationId, suspended } = actor.principal;
    await this.stores.transaction(async (tx) => {
      const name = await this.stores.resources.requestVerification(tx, organizationId, id, !suspended);
      if (name === null) throw resourceMissing(id);
      const object = objectNamed('RESOURCE', { id, name });
      await recordAction(tx, actor, 'RESOURCE_VERIFIED', object, { requested: true });
    });
  }

  /** Reads the target with its credential; the outcome decides whether the resource may be used. */
  async verify(actor: Actor, id: string): Promise<{ resource: ResourceRow; warnings: readonly string[] }> {
    const { principal } = actor;
    const resource = await this.find(principal, id);
    const { organizationId } = principal;
    const { failure, secrets, warnings = [] } = await this.verifier.check(organizationId, resource);
    await this.stores.transaction(async (tx) => {
      const outcome = failure && { message: failure.message, isRetryable: RETRYABLE_KINDS.has(failure.kind) };
      await this.stores.resources.recordVerification(tx, organizationId, resource, secrets, outcome);
      const object = { type: 'RESOURCE', id, name: resource.name };
      await recordAction(tx, actor, 'RESOURCE_VERIFIED', {
        ...object,
        failure: failure?.message ?? null,
      });
    });
    if (failure) throw refusal(resource, failure);
    return { resource: await this.find(principal, id), warnings };
  }
}

/** 404 for a resource that does not exist or belongs to another organization. */
export const resourceMissing = (id: string): ApiError =>
  notFound(`Resource ${id} does not exist`, 'RESOURCE_NOT_FOUND');

function refusal(resource: ResourceRow, failure: DriverError): Error {
  if (failure.kind === 'target-missing') {
    const message = `${resource.provider} knows no ${resource.resourceIdentifier}: ${failure.message}`;
    return notFound(message, 'CLOUD_RESOURCE_NOT_FOUND');
  }
  // a cloud that did not answer has refused nothing
  const refused = RETRYABLE_KINDS.has(failure.kind) ? '' : `${resource.provider} refused: `;
  return badRequest(`${refused}${failure.message}`, undefined, 'VERIFICATION_FAILED');
}
