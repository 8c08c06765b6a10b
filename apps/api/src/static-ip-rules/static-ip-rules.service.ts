import { Injectable } from '@nestjs/common';
import type { WokenTargets } from '#engine-store/port';
import type { ListQuery, Sliced, Tx } from '#entities';
import { type LockedTarget, type StaticIpRuleRow, StaticIpRuleStore, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { WakeUps } from '#jobs';
import { definedFields, parseHost, type IpVersion, type OrganizationId } from '#rules';
import { ApiSettings } from '../api.settings';
import { recordAction, type ActionObject } from '../audit/action-records';
import { forbidden, invalidField, notFound, unprocessable } from '../errors/api-error';
import { refuseSuspended } from '../errors/refuse-suspended';
import type { Actor } from '../http/actor';
import { plannedRules } from '../resources/planned-rules';
import type { CreateStaticIpRuleDto, UpdateStaticIpRuleDto } from './dto/static-ip-rule.dto';
import { refuseTooWideInTotal } from './range-total';
import { staticAddress, type StaticAddressPolicy } from './static-address';

/** Rules until they are deleted, or their end: committed here, applied and revoked by a worker. */
@Injectable()
export class StaticIpRulesService {
  constructor(
    private readonly stores: Tenants,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  list(principal: Principal, query: ListQuery): Promise<Sliced<StaticIpRuleRow>> {
    return this.stores.staticIpRules.list(this.stores.autocommit, principal.organizationId, query);
  }

  async find(principal: Principal, id: string): Promise<StaticIpRuleRow> {
    const rule = await this.stores.staticIpRules.find(this.stores.autocommit, principal.organizationId, id);
    if (!rule) throw missing(id);
    return rule;
  }

  async create(
    actor: Actor,
    { label, ipAddress, resourceIds, expiresAt: given, reviewBy: reviewed }: CreateStaticIpRuleDto,
  ): Promise<StaticIpRuleRow> {
    const { principal } = actor;
    refuseEmpty(resourceIds);
    const address = staticAddress(ipAddress, this.addressPolicy);
    const expiresAt = endOf(given ?? null, null);
    const reviewBy = reviewTime(reviewed ?? null);
    const { organizationId, email } = principal;
    const { created, woken } = await this.stores.transaction(async (tx) => {
      refuseAddition(await this.stores.staticIpRules.lockAdditions(tx, organizationId));
      const locked = await this.stores.resources.lockTargets(tx, organizationId, resourceIds);
      refuseUnknown(resourceIds, locked);
      await this.refuseTooWide(tx, organizationId, address, resourceIds);
      const rule = { label, ipAddress: address, createdByEmail: email, expiresAt, reviewBy };
      const id = await this.stores.staticIpRules.create(tx, organizationId, rule);
      const opened = { id, ipAddress: address };
      const targets = await this.open(tx, organizationId, opened, locked, 'STATIC_RULE_CREATED');
      await recordAction(tx, actor, 'STATIC_IP_RULE_CREATED', objectOf({ id, label }), {
        ipAddress,
        resourceIds,
        ...(expiresAt && { expiresAt }),
        ...(reviewBy && { reviewBy }),
      });
      return { created: (await this.stores.staticIpRules.find(tx, organizationId, id))!, woken: targets };
    });
    this.wakeUps.wake('apply-rules', woken);
    return created;
  }

  /**
   * Releases resources that are no longer listed and retries listed ones whose entry FAILED. Another end than one that has passed
   * opens the rule again.
   */
  async update(
    actor: Actor,
    id: string,
    { label, resourceIds, expiresAt, reviewBy }: UpdateStaticIpRuleDto,
  ): Promise<StaticIpRuleRow> {
    const { principal } = actor;
    if (resourceIds) {
      refuseSuspended(principal);
      refuseEmpty(resourceIds);
    }
    const { organizationId } = principal;
    const { updated, added, released } = await this.stores.transaction(async (tx) => {
      const mayAdd =
        (!resourceIds && expiresAt === undefined) ||
        (await this.stores.staticIpRules.lockAdditions(tx, organizationId));
      // under that lock the resources of the rule stay: its end only moves them to `closedOn`
      const was =
        expiresAt === undefined ? null : await this.stores.staticIpRules.find(tx, organizationId, id);
      const ids = resourceIds ?? [...(was?.resources ?? []), ...(was?.closedOn ?? [])].map(idOf);
      // lock resources before the rule: the same order as deleting a resource, to avoid deadlocks
      const targets = await this.stores.resources.lockTargets(tx, organizationId, ids);
      const now = await this.stores.staticIpRules.lock(tx, organizationId, id);
      if (!now) throw missing(id);
      refuseUnknown(resourceIds ?? [], targets);
      if (label !== undefined || reviewBy !== undefined)
        await this.stores.staticIpRules.change(tx, organizationId, id, {
          label,
          reviewBy: reviewBy === undefined ? undefined : reviewTime(reviewBy),
        });
      const isReopened = await this.moveEnd(tx, principal, now, expiresAt, mayAdd);
      if (resourceIds && now.hasEnded && expiresAt === undefined)
        throw unprocessable('The rule has ended: give a later expiresAt, too, or null, to open it again');
      if (isReopened && targets.length === 0)
        throw unprocessable('resourceIds must be given: those of the rule are deleted');
      const changes =
        resourceIds || isReopened
          ? await this.reassign(tx, principal, now, targets, isReopened)
          : { added: [], released: [], adds: false };
      if (changes.adds) refuseAddition(mayAdd);
      const object = objectOf({ id, label: label ?? now.label });
      const details = definedFields({ label, resourceIds, expiresAt, reviewBy });
      await recordAction(tx, actor, 'STATIC_IP_RULE_UPDATED', object, details);
      return { ...changes, updated: (await this.stores.staticIpRules.find(tx, organizationId, id))! };
    });
    this.wakeUps.wake('revoke-rules', released);
    this.wakeUps.wake('apply-rules', added);
    return updated;
  }

  /** Removes the rule from the API immediately and from the clouds in the background. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId } = principal;
    const woken = await this.stores.closing.revocation(async (tx) => {
      const now = await this.stores.staticIpRules.lock(tx, organizationId, id);
      if (!now) throw missing(id);
      const all = now.resources.map(idOf);
      await recordAction(tx, actor, 'STATIC_IP_RULE_DELETED', objectOf(now), {
        ipAddress: now.ipAddress,
      });
      await this.stores.staticIpRules.delete(tx, organizationId, id);
      return this.stores.staticIpRules.release(tx, organizationId, id, all, 'STATIC_RULE_DELETED');
    });
    this.wakeUps.wake('revoke-rules', woken);
  }

  /** Opens what a lockdown has closed, in the transaction that lifts it. @returns the targets to wake */
  async reopen(tx: Tx, { organizationId }: Principal): Promise<WokenTargets[]> {
    await this.stores.staticIpRules.lockAdditions(tx, organizationId);
    const closed = await this.stores.staticIpRules.listClosed(tx, organizationId);
    const all = closed.flatMap(({ resourceIds }) => resourceIds);
    const targets = await this.stores.resources.lockTargets(tx, organizationId, all);
    const woken: WokenTargets[] = [];
    for (const rule of closed) {
      if (!(await this.stores.staticIpRules.reopen(tx, organizationId, rule.id))) continue;
      const own = targets.filter(({ resourceId }) => rule.resourceIds.includes(resourceId));
      woken.push(...(await this.open(tx, organizationId, rule, own, 'LOCKDOWN_LIFTED')));
    }
    return woken;
  }

  /** @param given undefined: its end stays @param mayAdd false in a lockdown @returns whether it was closed by its end, and is to be opened */
  private async moveEnd(
    tx: Tx,
    principal: Principal,
    { id, expiresAt: before, hasEnded }: StaticIpRuleRow,
    given: string | null | undefined,
    mayAdd: boolean,
  ): Promise<boolean> {
    if (given === undefined) return false;
    const expiresAt = endOf(given, before);
    if (before && (expiresAt ?? Infinity) > before) {
      refuseSuspended(principal);
      refuseAddition(mayAdd);
    }
    await this.stores.staticIpRules.setEnd(tx, principal.organizationId, id, expiresAt);
    return hasEnded && this.stores.staticIpRules.reopen(tx, principal.organizationId, id);
  }

  private async reassign(
    tx: Tx,
    { organizationId }: Principal,
    rule: StaticIpRuleRow,
    targets: readonly LockedTarget[],
    isReopened: boolean,
  ): Promise<{ added: WokenTargets[]; released: WokenTargets[]; adds: boolean }> {
    const desired = new Set(targets.map(idOf));
    const unchanged = rule.resources.filter(
      (entry) => entry.status !== 'FAILED' && desired.has(entry.resourceId),
    );
    const kept = new Set(unchanged.map(idOf));
    const removed = rule.resources.map(idOf).filter((resourceId) => !kept.has(resourceId));
    const added = targets.filter((target) => !kept.has(target.resourceId));
    await this.refuseTooWide(tx, organizationId, rule.ipAddress, added.map(idOf));
    const { staticIpRules } = this.stores;
    const released = await staticIpRules.release(tx, organizationId, rule.id, removed, 'STATIC_RULE_CHANGED');
    const cause = isReopened ? 'STATIC_RULE_EXTENDED' : 'STATIC_RULE_CREATED';
    const woken = await this.open(tx, organizationId, rule, added, cause);
    return { added: woken, released, adds: added.length > 0 };
  }

  private open(
    tx: Tx,
    organization: OrganizationId,
    { id, ipAddress }: Pick<StaticIpRuleRow, 'id' | 'ipAddress'>,
    targets: readonly LockedTarget[],
    cause: Parameters<StaticIpRuleStore['open']>[4],
  ): Promise<WokenTargets[]> {
    const entries = targets.map((target) => ({ ...target, specs: plannedRules(target, ipAddress) }));
    const rule = { id, ipVersion: versionOf(ipAddress), ipAddress };
    return this.stores.staticIpRules.open(tx, organization, rule, entries, cause);
  }

  /** @param ipAddress canonical: an address is never too wide */
  private async refuseTooWide(
    tx: Tx,
    organization: OrganizationId,
    ipAddress: string,
    resourceIds: readonly string[],
  ): Promise<void> {
    if (!ipAddress.includes('/')) return;
    const range = { version: versionOf(ipAddress), text: ipAddress, resourceIds };
    const { totalPrefix } = this.addressPolicy;
    await refuseTooWideInTotal(this.stores.staticIpRules, tx, organization, range, totalPrefix);
  }

  private get addressPolicy(): StaticAddressPolicy {
    const { settings } = this;
    return {
      allowPrivate: settings.ALLOW_PRIVATE_ADDRESSES,
      minPrefix: { 4: settings.STATIC_IP_MIN_PREFIX_IPV4, 6: settings.STATIC_IP_MIN_PREFIX_IPV6 },
      totalPrefix: { 4: settings.STATIC_IP_TOTAL_PREFIX_IPV4, 6: settings.STATIC_IP_TOTAL_PREFIX_IPV6 },
    };
  }
}

const objectOf = ({ id, label }: Pick<StaticIpRuleRow, 'id' | 'label'>): ActionObject => ({
  type: 'STATIC_IP_RULE',
  id,
  name: label,
});

/** @param ipAddress canonical: an address or a range */
const versionOf = (ipAddress: string): IpVersion => parseHost(ipAddress.split('/')[0]!)!.version;

const idOf = ({ resourceId }: { readonly resourceId: string }): string => resourceId;

const SOONEST_END_MS = 5 * 60_000;
const LATEST_END_MS = 5 * 365.25 * 24 * 60 * 60_000;

/** @param before the end as it is, which may be given again @throws ApiError 400 when it is too soon or too late */
function endOf(given: string | null, before: Date | null): Date | null {
  if (given === null) return null;
  const expiresAt = new Date(given);
  const aheadMs = expiresAt.getTime() - Date.now();
  const isKept = aheadMs > 0 && expiresAt.getTime() === before?.getTime();
  if (isKept || (aheadMs >= SOONEST_END_MS && aheadMs <= LATEST_END_MS)) return expiresAt;
  throw invalidField('expiresAt', 'must be 5 minutes to 5 years ahead, or null for no end');
}

/** @throws ApiError 400 when it is over, or later than an end may be */
function reviewTime(given: string | null): Date | null {
  if (given === null) return null;
  const reviewBy = new Date(given);
  const aheadMs = reviewBy.getTime() - Date.now();
  if (aheadMs > 0 && aheadMs <= LATEST_END_MS) return reviewBy;
  throw invalidField('reviewBy', 'must be to come, and at most 5 years ahead, or null');
}

const missing = (id: string): Error => notFound(`Static IP rule ${id} does not exist`);

function refuseAddition(isAllowed: boolean): void {
  if (isAllowed) return;
  throw forbidden(
    'The organization is locked down: no static IP rule is opened until it is lifted with DELETE /organization/lockdown',
  );
}

function refuseEmpty(resourceIds: readonly string[]): void {
  if (resourceIds.length === 0) throw unprocessable('resourceIds must name at least one resource');
}

function refuseUnknown(
  resourceIds: readonly string[],
  targets: readonly { readonly resourceId: string }[],
): void {
  const known = new Set(targets.map(idOf));
  const unknown = resourceIds.find((id) => !known.has(id.toLowerCase()));
  if (unknown !== undefined) throw notFound(`Resource ${unknown} does not exist`);
}
