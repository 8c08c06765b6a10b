import { Injectable } from '@nestjs/common';
import { DriverRegistry } from '#drivers';
import { EnginePort } from '#engine-store/port';
import type { Principal } from '#guards';
import { type ResourceRow, Tenants } from '#tenant-store';
import { type HostGuard, trafficOf, type Traffic } from '#rules';
import { recordAction, objectNamed } from '../audit/action-records';
import { badRequest } from '../errors/api-error';
import type { Actor } from '../http/actor';
import { ResourcesService, resourceMissing } from './resources.service';

/** The guard of a host, as one of its resources sees it. */
export interface ResourceGuard {
  readonly agent: string;
  /** what the resource names */
  readonly named: readonly Traffic[];
  /** of the whole host; null: the agent has reported none */
  readonly reported: { readonly guard: HostGuard; readonly reportedAt: Date } | null;
}

/** What hosts guard of a resource's traffic, and the agreement that connections are cut. */
@Injectable()
export class HostGuardService {
  constructor(
    private readonly resources: ResourcesService,
    private readonly stores: Tenants,
    private readonly engine: EnginePort,
  ) {}

  /** @throws ApiError 404, or 400 for a resource without an agent */
  async find(principal: Principal, id: string): Promise<ResourceGuard> {
    const { organizationId } = principal;
    const resource = await this.resources.find(principal, id);
    refuseWithoutAgent(resource);
    const { targetKey, targetIdentifier, config } = resource;
    const reported = await this.engine.agentGuards.find(this.stores.autocommit, organizationId, targetKey);
    return { agent: targetIdentifier, named: trafficOf(config), reported };
  }

  /**
   * Agrees that the host cuts established connections to the resource's current traffic.
   * @throws ApiError 404, or 400 for a resource without an agent
   */
  confirm(actor: Actor, id: string): Promise<ResourceRow> {
    const { organizationId } = actor.principal;
    return this.stores.transaction(async (tx) => {
      const resource = await this.stores.resources.lock(tx, organizationId, id);
      if (!resource) throw resourceMissing(id);
      refuseWithoutAgent(resource);
      await this.stores.resources.confirmGuard(tx, organizationId, id);
      await recordAction(tx, actor, 'RESOURCE_GUARD_CONFIRMED', objectNamed('RESOURCE', resource), {
        agent: resource.targetIdentifier,
        confirmed: trafficOf(resource.config),
      });
      return (await this.stores.resources.find(tx, organizationId, id))!;
    });
  }
}

function refuseWithoutAgent({ provider }: ResourceRow): void {
  if (!DriverRegistry.isDriven(provider)) return;
  throw badRequest(`${provider} has no guard: only resources of the provider AGENT have one`);
}
