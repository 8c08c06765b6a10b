import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '#entities';
import {
  AuditStore,
  CredentialStore,
  type ResourceRow,
  ResourceRulesStore,
  ResourceStore,
} from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { notPossible } from '../errors/api-error';
import { refuseSuspended } from '../errors/refuse-suspended';
import type { UpdateResourceDto } from './dto/resource.dto';
import { checkFittingCredential } from './fitting-credential';
import { specsOf } from './placement';
import { changedResource, type PlannedChange } from './resource-changes';
import { checkedType, targetNameOf } from './resource-naming';
import { resourceMissing } from './resources.service';
import { refuseFullTarget } from './target-limit';

/** Changes and deletes resources whose rules may stand in clouds: nothing is left behind there. */
@Injectable()
export class ResourceEditingService {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceStore,
    private readonly rules: ResourceRulesStore,
    private readonly credentials: CredentialStore,
    private readonly audit: AuditStore,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Applied rules follow the resource: revoked where they are, applied where they belong now. */
  async update(
    principal: Principal,
    id: string,
    asked: UpdateResourceDto,
    caller: HostAddress | null,
  ): Promise<ResourceRow> {
    const { organizationId } = principal;
    const { updated, targets } = await this.database.transaction(async (tx) => {
      const now = await this.resources.lock(tx, organizationId, id);
      if (!now) throw resourceMissing(id);
      const change = changedResource(now, asked);
      if (change.targetChanged || change.wayChanged || asked.isActive) refuseSuspended(principal);
      const woken = await this.move(tx, principal, now, change);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'RESOURCE_UPDATED',
        resourceType: 'RESOURCE',
        resourceId: id,
        resourceName: change.name,
        details: {
          fields: Object.keys(asked).filter((field) => asked[field as keyof UpdateResourceDto] !== undefined),
        },
      });
      return { updated: (await this.resources.find(tx, organizationId, id))!, targets: woken };
    });
    this.wakeUps.wake('revoke-rules', targets);
    return updated;
  }

  /** @throws ApiError 400 RESOURCE_IN_USE while sessions use it */
  async delete(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    const { organizationId } = principal;
    const targets = await this.database.transaction(async (tx) => {
      const resource = await this.resources.lock(tx, organizationId, id);
      if (!resource) throw resourceMissing(id);
      if (!(await this.rules.isFree(tx, organizationId, id))) {
        throw notPossible(
          'Sessions use the resource: stop them, wait until they have ended, then delete it',
          { code: 'RESOURCE_IN_USE' },
        );
      }
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'RESOURCE_DELETED',
        resourceType: 'RESOURCE',
        resourceId: id,
        resourceName: resource.name,
        details: { provider: resource.provider, resourceIdentifier: resource.resourceIdentifier },
      });
      return this.rules.delete(tx, organizationId, id);
    });
    this.wakeUps.wake('revoke-rules', targets);
  }

  /** Has a worker compare the target with what should stand there; health events tell the outcome. */
  async reconcile(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    const { organizationId } = principal;
    const { provider, targetId } = await this.database.transaction(async (tx) => {
      const resource = await this.resources.find(tx, organizationId, id);
      const asked = resource && (await this.resources.requestReconcile(tx, organizationId, id));
      if (!asked) throw resourceMissing(id);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'RESOURCE_RECONCILED',
        resourceType: 'RESOURCE',
        resourceId: id,
        resourceName: resource.name,
      });
      return asked;
    });
    this.wakeUps.wake('apply-rules', [{ provider, targetIds: [targetId] }]);
  }

  /**
   * Gives up a target that will never answer again: its rules are not waited for any more.
   * @throws ApiError 404 when there is no such resource
   */
  async abandon(
    principal: Principal,
    id: string,
    reason: string,
    caller: HostAddress | null,
  ): Promise<ResourceRow> {
    const { organizationId } = principal;
    const { abandoned, targets } = await this.database.transaction(async (tx) => {
      const resource = await this.resources.lock(tx, organizationId, id);
      if (!resource) throw resourceMissing(id);
      const given = await this.rules.abandon(tx, organizationId, id, reason);
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'RESOURCE_ABANDONED',
        resourceType: 'RESOURCE',
        resourceId: id,
        resourceName: resource.name,
        details: { reason, rules: given.rules },
      });
      return { abandoned: (await this.resources.find(tx, organizationId, id))!, targets: given.targets };
    });
    this.wakeUps.wake('revoke-rules', targets);
    return abandoned;
  }

  private async move(
    tx: Tx,
    { organizationId }: Principal,
    now: ResourceRow,
    change: PlannedChange,
  ): ReturnType<ResourceRulesStore['rehold']> {
    const { id, provider, resourceType } = now;
    const moved = change.targetChanged || change.wayChanged;
    const named = { ...change, provider, resourceType };
    const hints = await checkFittingCredential(
      this.credentials,
      tx,
      organizationId,
      change.credentialId,
      provider,
    );
    const object = targetNameOf(named, checkedType(named), hints, organizationId);
    const targetId = await this.resources.target(tx, organizationId, { object, provider, resourceType });
    await refuseFullTarget(this.resources, tx, organizationId, targetId, { ...named, id });
    await this.resources.update(tx, organizationId, id, { ...change, targetId, moved });
    if (!moved) return [];
    const holding = await this.rules.holding(tx, organizationId, id);
    const wants = holding.map((ip) => ({
      resourceIpId: ip.id,
      targetId,
      specs: specsOf({ provider, resourceType, config: change.config }, ip.ipAddress),
    }));
    const cause = targetId === now.targetId ? 'CONFIG_CHANGED' : 'RESOURCE_MOVED';
    return this.rules.rehold(tx, organizationId, id, wants, change.wayChanged, cause);
  }
}
