import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import { type AuditEntry, Database, type Slice, type Sliced, type Trail, type Tx, closing } from '#entities';
import {
  AuditStore,
  type NewEntry,
  ResourceStore,
  type StaticIpRuleRow,
  StaticIpRuleStore,
} from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { parseHost, type HostAddress } from '#rules';
import { ApiSettings } from '../api.settings';
import { auditActor } from '../audit/audit-actor';
import { notFound, unprocessable } from '../errors/api-error';
import { refuseSuspended } from '../errors/refuse-suspended';
import { specsOf } from '../resources/placement';
import type { CreateStaticIpRuleDto, UpdateStaticIpRuleDto } from './dto/static-ip-rule.dto';
import { refuseTooWideTogether } from './range-total';
import { staticAddress, type StaticAddressPolicy } from './static-address';

/** Permanent openings: committed here, applied and revoked by a worker. */
@Injectable()
export class StaticIpRulesService {
  constructor(
    private readonly database: Database,
    private readonly rules: StaticIpRuleStore,
    private readonly resources: ResourceStore,
    private readonly audit: AuditStore,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  list(principal: Principal, slice: Slice): Promise<Sliced<StaticIpRuleRow>> {
    return this.rules.list(this.database.autocommit, principal.organizationId, slice);
  }

  async find(principal: Principal, id: string): Promise<StaticIpRuleRow> {
    const rule = await this.rules.find(this.database.autocommit, principal.organizationId, id);
    if (!rule) throw missing(id);
    return rule;
  }

  async create(
    principal: Principal,
    { label, ipAddress, resourceIds }: CreateStaticIpRuleDto,
    caller: HostAddress | null,
  ): Promise<StaticIpRuleRow> {
    refuseEmpty(resourceIds);
    const address = staticAddress(ipAddress, this.addressPolicy);
    const { organizationId, email } = principal;
    const { created, woken } = await this.database.transaction(async (tx) => {
      if (address.isRange) await this.rules.lockRanges(tx, organizationId);
      const entries = await this.entries(tx, principal, resourceIds, address.text);
      if (address.isRange)
        await refuseTooWideTogether(
          this.rules,
          tx,
          organizationId,
          address,
          resourceIds,
          this.addressPolicy.totalPrefix,
        );
      const rule = { label, ipAddress: address.text, createdByEmail: email };
      const id = await this.rules.create(tx, organizationId, rule);
      const targets = await this.rules.open(
        tx,
        organizationId,
        { id, ipVersion: address.version, ipAddress: address.text },
        entries,
      );
      await this.record(
        tx,
        principal,
        caller,
        'STATIC_IP_RULE_CREATED',
        { id, label },
        { ipAddress, resourceIds },
      );
      return { created: (await this.rules.find(tx, organizationId, id))!, woken: targets };
    });
    this.wakeUps.wake('apply-rules', woken);
    return created;
  }

  /** Resources left out of the list are let go; one named again whose entry FAILED is tried again. */
  async update(
    principal: Principal,
    id: string,
    { label, resourceIds }: UpdateStaticIpRuleDto,
    caller: HostAddress | null,
  ): Promise<StaticIpRuleRow> {
    if (resourceIds) {
      refuseSuspended(principal);
      refuseEmpty(resourceIds);
    }
    const { organizationId } = principal;
    const { updated, opened, released } = await this.database.transaction(async (tx) => {
      if (resourceIds) await this.rules.lockRanges(tx, organizationId);
      // resources before the rule, as a resource's deletion takes them
      const places = await this.resources.places(tx, organizationId, resourceIds ?? []);
      const now = await this.rules.lock(tx, organizationId, id);
      if (!now) throw missing(id);
      refuseUnknown(resourceIds ?? [], places);
      if (label !== undefined) await this.rules.rename(tx, organizationId, id, label);
      const moves = resourceIds
        ? await this.reassign(tx, principal, now, places)
        : { opened: [], released: [] };
      const details = { ...(label === undefined ? {} : { label }), ...(resourceIds ? { resourceIds } : {}) };
      await this.record(
        tx,
        principal,
        caller,
        'STATIC_IP_RULE_UPDATED',
        { id, label: label ?? now.label },
        details,
      );
      return { ...moves, updated: (await this.rules.find(tx, organizationId, id))! };
    });
    this.wakeUps.wake('revoke-rules', released);
    this.wakeUps.wake('apply-rules', opened);
    return updated;
  }

  /** Gone from the API at once, from the clouds in the background. */
  async delete(principal: Principal, id: string, caller: HostAddress | null): Promise<void> {
    const { organizationId } = principal;
    const woken = await closing((trail) =>
      this.database.transaction(async (tx) => {
        const now = await this.rules.lock(tx, organizationId, id);
        if (!now) throw missing(id);
        const all = now.resources.map((entry) => entry.resourceId);
        await this.record(
          tx,
          principal,
          caller,
          'STATIC_IP_RULE_DELETED',
          now,
          { ipAddress: now.ipAddress },
          trail,
        );
        await this.rules.delete(tx, organizationId, id);
        return this.rules.release(tx, organizationId, id, all, 'STATIC_RULE_DELETED');
      }),
    );
    this.wakeUps.wake('revoke-rules', woken);
  }

  private async reassign(
    tx: Tx,
    { organizationId }: Principal,
    rule: StaticIpRuleRow,
    places: Awaited<ReturnType<ResourceStore['places']>>,
  ): Promise<{ opened: WokenTargets[]; released: WokenTargets[] }> {
    const desired = new Set(places.map((place) => place.resourceId));
    const standing = rule.resources.filter(
      (entry) => entry.status !== 'FAILED' && desired.has(entry.resourceId),
    );
    const kept = new Set(standing.map((entry) => entry.resourceId));
    const gone = rule.resources
      .map((entry) => entry.resourceId)
      .filter((resourceId) => !kept.has(resourceId));
    const fresh = places.filter((place) => !kept.has(place.resourceId));
    const version = parseHost(rule.ipAddress.split('/')[0]!)!.version;
    const address = { version, text: rule.ipAddress };
    const freshIds = fresh.map((place) => place.resourceId);
    if (rule.ipAddress.includes('/'))
      await refuseTooWideTogether(
        this.rules,
        tx,
        organizationId,
        address,
        freshIds,
        this.addressPolicy.totalPrefix,
      );
    const released = await this.rules.release(tx, organizationId, rule.id, gone, 'STATIC_RULE_CHANGED');
    const opened = await this.rules.open(
      tx,
      organizationId,
      { id: rule.id, ipVersion: version, ipAddress: rule.ipAddress },
      fresh.map((place) => ({ ...place, specs: specsOf(place, rule.ipAddress) })),
    );
    return { opened, released };
  }

  private async entries(
    tx: Tx,
    { organizationId }: Principal,
    resourceIds: readonly string[],
    address: string,
  ): Promise<NewEntry[]> {
    const places = await this.resources.places(tx, organizationId, resourceIds);
    refuseUnknown(resourceIds, places);
    return places.map((place) => ({ ...place, specs: specsOf(place, address) }));
  }

  private get addressPolicy(): StaticAddressPolicy {
    const { settings } = this;
    return {
      allowPrivate: settings.ALLOW_PRIVATE_ADDRESSES,
      minPrefix: { 4: settings.STATIC_IP_MIN_PREFIX_IPV4, 6: settings.STATIC_IP_MIN_PREFIX_IPV6 },
      totalPrefix: { 4: settings.STATIC_IP_TOTAL_PREFIX_IPV4, 6: settings.STATIC_IP_TOTAL_PREFIX_IPV6 },
    };
  }

  private record(
    tx: Tx,
    principal: Principal,
    caller: HostAddress | null,
    eventType: AuditEntry['eventType'],
    rule: { id: string; label: string },
    details: Readonly<Record<string, unknown>>,
    trail: Trail = 'audit_records',
  ): Promise<void> {
    return this.audit.writeClosing(tx, principal.organizationId, trail, {
      ...auditActor(principal, caller?.text ?? null),
      eventType,
      resourceType: 'STATIC_IP_RULE',
      resourceId: rule.id,
      resourceName: rule.label,
      details,
    });
  }
}

const missing = (id: string): Error => notFound(`Static IP rule ${id} does not exist`);

function refuseEmpty(resourceIds: readonly string[]): void {
  if (resourceIds.length === 0) throw unprocessable('resourceIds must name at least one resource');
}

function refuseUnknown(asked: readonly string[], places: readonly { resourceId: string }[]): void {
  const known = new Set(places.map((place) => place.resourceId));
  const unknown = asked.find((id) => !known.has(id.toLowerCase()));
  if (unknown !== undefined) throw notFound(`Resource ${unknown} does not exist`);
}
