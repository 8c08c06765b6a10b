import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { type ResourceRow, ResourceRulesStore, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { recordAction, objectNamed } from '../audit/action-records';
import { notPossible } from '../errors/api-error';
import { refuseSuspended } from '../errors/refuse-suspended';
import type { Actor } from '../http/actor';
import type { UpdateResourceDto } from './dto/resource.dto';
import { givenLabels, type Labels } from './labels';
import { HostReleases, refuseRelease } from './host-releases';
import { lockAccess } from './provider-credential';
import { plannedRules } from './planned-rules';
import { changedResource, type PlannedChange } from './resource-changes';
import { checkedType, targetNameOf } from './resource-naming';
import { resourceMissing } from './resources.service';
import { refuseFullTarget } from './target-limit';

const MAX_NAMES = 20;

interface Named {
  readonly names: readonly string[];
  readonly total: number;
}

const some = (names: readonly string[]): Named => ({ names: names.slice(0, MAX_NAMES), total: names.length });

/** Changes and deletes resources. Applied rules are moved or removed with them, so none is left behind in a cloud. */
@Injectable()
export class ResourceEditingService {
  constructor(
    private readonly stores: Tenants,
    private readonly wakeUps: WakeUps,
    private readonly releases: HostReleases,
  ) {}

  /**
   * Applied rules follow the resource: they are revoked on the old target and applied on the new one.
   * @param relabelled the labels that it is given instead of its own
   */
  async update(
    actor: Actor,
    id: string,
    { releasePorts = false, ...asked }: UpdateResourceDto,
    relabelled?: (labels: Labels) => Labels,
  ): Promise<ResourceRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { updated, targets } = await this.stores.transaction(async (tx) => {
      const now = await this.stores.resources.lock(tx, organizationId, id);
      if (!now) throw resourceMissing(id);
      refuseRelease(now, releasePorts);
      const dto = relabelled ? { ...asked, labels: relabelled(givenLabels(now.labels)) } : asked;
      const change = changedResource(now, dto);
      if (change.targetChanged || change.accessChanged || dto.isActive) refuseSuspended(principal);
      const released = change.targetChanged
        ? await this.releases.apply(tx, organizationId, {
            from: now,
            to: { ...now, ...change },
            releasePorts,
          })
        : [];
      const reach = dto.labels ? await this.stores.resources.roleNames(tx, organizationId, id) : [];
      const woken = await this.applyChange(tx, principal, now, change);
      const roles = dto.labels && (await this.reachChange(tx, principal, id, reach));
      await recordAction(tx, actor, 'RESOURCE_UPDATED', objectNamed('RESOURCE', { id, name: change.name }), {
        fields: Object.keys(dto).filter((field) => dto[field as keyof typeof dto] !== undefined),
        ...(releasePorts && { released }),
        ...roles,
      });
      return { updated: (await this.stores.resources.find(tx, organizationId, id))!, targets: woken };
    });
    this.wakeUps.wake('revoke-rules', targets);
    return updated;
  }

  /**
   * @param releasePorts its host stops guarding what no other resource names
   * @throws ApiError 400 RESOURCE_IN_USE while sessions use it
   */
  async delete(actor: Actor, id: string, releasePorts: boolean): Promise<void> {
    const { principal } = actor;
    const { organizationId } = principal;
    const targets = await this.stores.closing.transaction(async (tx) => {
      const resource = await this.stores.resources.lock(tx, organizationId, id);
      if (!resource) throw resourceMissing(id);
      refuseRelease(resource, releasePorts);
      if (releasePorts) refuseSuspended(principal);
      if (!(await this.stores.resourceRules.isUnused(tx, organizationId, id))) {
        throw notPossible(
          'Sessions use the resource: stop them, wait until they have ended, then delete it',
          { code: 'RESOURCE_IN_USE' },
        );
      }
      const released = await this.releases.apply(tx, organizationId, {
        from: resource,
        to: null,
        releasePorts,
      });
      await recordAction(tx, actor, 'RESOURCE_DELETED', objectNamed('RESOURCE', resource), {
        provider: resource.provider,
        resourceIdentifier: resource.resourceIdentifier,
        ...(releasePorts && { released }),
      });
      const woken = await this.stores.resourceRules.delete(tx, organizationId, id);
      await this.stores.cloudAccounts.leave(tx, organizationId, resource.accessId);
      return woken;
    });
    this.wakeUps.wake('revoke-rules', targets);
  }

  /** Requests a reconciliation of the target by a worker. Health events report the outcome. */
  async reconcile(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { provider, targetId } = await this.stores.transaction(async (tx) => {
      const resource = await this.stores.resources.find(tx, organizationId, id);
      const requested = resource && (await this.stores.resources.requestReconcile(tx, organizationId, id));
      if (!requested) throw resourceMissing(id);
      await recordAction(tx, actor, 'RESOURCE_RECONCILED', objectNamed('RESOURCE', resource));
      return requested;
    });
    this.wakeUps.wake('apply-rules', [{ provider, targetIds: [targetId] }]);
  }

  /**
   * Gives up a target that is permanently unreachable: its rules are no longer retried.
   * @throws ApiError 404 when the resource does not exist
   */
  async abandon(actor: Actor, id: string, reason: string): Promise<ResourceRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { abandoned, targets } = await this.stores.transaction(async (tx) => {
      const resource = await this.stores.resources.lock(tx, organizationId, id);
      if (!resource) throw resourceMissing(id);
      const outcome = await this.stores.resourceRules.abandon(tx, organizationId, id, reason);
      await recordAction(tx, actor, 'RESOURCE_ABANDONED', objectNamed('RESOURCE', resource), {
        reason,
        rules: outcome.rules,
      });
      const row = (await this.stores.resources.find(tx, organizationId, id))!;
      return { abandoned: row, targets: outcome.targets };
    });
    this.wakeUps.wake('revoke-rules', targets);
    return abandoned;
  }

  /** @throws ApiError 403 when more roles reach it, while suspended @returns which roles it was given and taken from */
  private async reachChange(
    tx: Tx,
    principal: Principal,
    id: string,
    before: readonly string[],
  ): Promise<Readonly<Record<'rolesGained' | 'rolesLost', Named>>> {
    const after = await this.stores.resources.roleNames(tx, principal.organizationId, id);
    const gained = after.filter((name) => !before.includes(name));
    const lost = before.filter((name) => !after.includes(name));
    if (gained.length > 0) refuseSuspended(principal);
    return { rolesGained: some(gained), rolesLost: some(lost) };
  }

  private async applyChange(
    tx: Tx,
    { organizationId }: Principal,
    now: ResourceRow,
    change: PlannedChange,
  ): ReturnType<ResourceRulesStore['updateHeldRules']> {
    const { id, provider, resourceType } = now;
    const moved = change.targetChanged || change.accessChanged;
    const named = { ...change, provider, resourceType };
    const stays = !change.accessChanged && change.resourceIdentifier === now.resourceIdentifier;
    const asked = { given: change.account, now, stays };
    const { credentialId } = change;
    const { hints, ...access } = await lockAccess(
      this.stores,
      tx,
      organizationId,
      credentialId,
      named,
      asked,
    );
    const object = targetNameOf(named, checkedType(named), hints, organizationId);
    const { resources, resourceRules } = this.stores;
    const targetId = await resources.target(tx, organizationId, { object, provider, resourceType });
    await refuseFullTarget(resources, tx, organizationId, targetId, { ...named, id });
    const { account, accessId } = access;
    await resources.update(tx, organizationId, id, { ...change, account, accessId, targetId, moved });
    if (accessId !== now.accessId) await this.stores.cloudAccounts.leave(tx, organizationId, now.accessId);
    if (!moved) return [];
    const holders = await resourceRules.lockHolders(tx, organizationId, id);
    const desired = holders.map((ip) => ({
      resourceIpId: ip.id,
      targetId,
      specs: plannedRules({ provider, resourceType, config: change.config }, ip.ipAddress),
    }));
    const cause = targetId === now.targetId ? 'CONFIG_CHANGED' : 'RESOURCE_MOVED';
    return resourceRules.updateHeldRules(tx, organizationId, id, desired, { ...change, cause });
  }
}
