import { canonicalCidr, type ObservedRule, type ResourceConfig } from '#rules';
import { DriverError } from '../../driver-error';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen } from '../../open-target';
import type { Inspection, RuleChange, Verified } from '../../provider-driver';
import { isRecord } from '../../untrusted-json';
import { ListChange, type ListPort } from '../../whole-list/list-change';
import { BY_MEANING, keyOfCidr, refused, type ListForm } from '../../whole-list/plan-rewrite';
import { unexpectedResponse } from '../azure-errors';
import type { Applied, AzureTarget } from '../azure-target';
import { stillRunning, type Json, type RunningOperation } from './arm-json';
import type { ArmTarget } from './child-rules';
import { inMotion, isShown } from './running-operations';
import { armRoom, type ListType } from './tables';

/** The list as the resource has it. */
interface ListOfResource {
  /** in their original spelling and order */
  readonly entries: readonly string[];
  /** the entries with all their fields, in the same order */
  readonly items: readonly Json[];
  /** the property with the list: what else it has is sent back with each write */
  readonly property: Json;
  readonly resource: Json;
}

const ANY_ADDRESS = ['0.0.0.0/0', '::/0'];
const IN_MOTION: ReadonlySet<unknown> = new Set(['Creating', 'Updating', 'Accepted', 'Moving']);

/** A service whose firewall is a list of addresses among its properties. */
export class PropertyList implements AzureTarget {
  private readonly form: ListForm;

  constructor(
    private readonly type: ListType,
    private readonly given: ArmTarget,
  ) {
    this.form = listForm(type);
  }

  async verify(_: ResourceConfig): Promise<Verified> {
    const { name, check } = this.given;
    const { armType, actions, limit, property } = this.type;
    const list = await this.fetch();
    await check.requireActions(actions.map((action) => `${armType}/${action}`));
    // a lock against deletion does not hinder: the list is changed
    await check.deleteLocks();
    const refusal = this.explain(list) ?? this.type.refusal(list.resource);
    if (refusal !== null) throw new DriverError('invalid', refusal);
    const { bypass, virtualNetworkRules: subnets } = list.property;
    const isNearlyFull = limit !== null && list.entries.length > 0.8 * limit;
    return {
      warnings: [
        ...(typeof bypass === 'string' && bypass.includes('AzureServices')
          ? [`${property}.bypass lets services of Azure in, whatever the list says`]
          : []),
        ...(Array.isArray(subnets) && subnets.length > 0
          ? [`${name} has rules for subnets, which are let in, whatever the list says`]
          : []),
        ...(isNearlyFull ? [`${name} has ${list.entries.length} of ${limit} entries`] : []),
        ...this.type.warnings,
      ],
    };
  }

  /** Removals leave nothing behind. */
  read(): Promise<Inspection> {
    return this.inspect();
  }

  async inspect(): Promise<Inspection> {
    const list = await this.fetch();
    return {
      rules: this.observedRules(list),
      room: armRoom(this.type, list.entries.length),
      explainOpen: () => this.explain(list),
    };
  }

  async apply(changes: readonly RuleChange[]): Promise<Applied> {
    const { target, deadline } = this.given;
    const port: ListPort<ListOfResource> = {
      read: () => this.fetch(),
      write: (list, entries) => this.write(list, entries),
    };
    const before = await this.fetch();
    const change = new ListChange(port, this.form, target.claims, before, () => deadline.hasTimeFor(1));
    return { results: await change.apply(changes), failure: null };
  }

  /** @throws CallFailure `conflict` while a change of the resource is in progress */
  private async fetch(): Promise<ListOfResource> {
    const operation = `the read of the ${this.type.noun}`;
    const resource = await this.given.arm.get(this.given.target.identifier, this.type.apiVersion, operation);
    const { properties } = resource;
    if (!isRecord(properties)) throw unexpectedResponse(operation);
    if (this.type.polling.length > 0 && IN_MOTION.has(properties.provisioningState)) throw inMotion(false);
    const property = properties[this.type.property] ?? {};
    if (!isRecord(property)) throw unexpectedResponse(operation);
    const items = property.ipRules ?? [];
    if (!Array.isArray(items) || !items.every(isEntry)) throw unexpectedResponse(operation);
    return { entries: items.map(({ value }) => value), items, property, resource };
  }

  /** Sends the property back as it was read, with another list: what is left out of it would be reset. */
  private async write({ items, property }: ListOfResource, entries: readonly string[]): Promise<void> {
    const { arm, target } = this.given;
    const left = [...items];
    const ipRules = entries.map((value) => {
      const index = left.findIndex((item) => item.value === value);
      return index < 0 ? { ...this.type.entry, value } : left.splice(index, 1)[0];
    });
    const operation = `the write of the ${this.type.noun}`;
    const { status, body, running } = await arm.change({
      operation,
      method: 'PATCH',
      path: target.identifier,
      version: this.type.apiVersion,
      body: { properties: { [this.type.property]: { ...property, ipRules } } },
    });
    if (running) await this.finish(running);
    else if (status < 202 && !isRecord(body.properties)) throw unexpectedResponse(operation);
  }

  /** Waits for an accepted change, by the resource's state where the credential may not ask for the operation. */
  private async finish(running: RunningOperation): Promise<void> {
    const { arm, deadline } = this.given;
    const outcome = await arm.waitFor(running);
    if (outcome === 'running') throw stillRunning(false);
    if (outcome === 'ended') return;
    const isIdle = (): Promise<boolean> => this.fetch().then(() => true);
    if (!(await isShown(deadline, isIdle))) throw stillRunning(false);
  }

  /** Why the list has no effect, or restricts nothing, as a message; null: it decides. */
  private explain(list: ListOfResource): string | null {
    const { name } = this.given;
    const ranges = list.entries.flatMap((entry) => this.form.own(entry) ?? []);
    const rules = ranges.map(allTrafficFrom);
    return this.openReason(list) ?? this.closedReason(list) ?? explainOpen(name, ALL_TRAFFIC, rules);
  }

  private openReason({ property }: ListOfResource): string | null {
    if (property.defaultAction === 'Deny') return null;
    const { name } = this.given;
    return `The default action of ${name} is Allow: everybody is let in. Make it Deny: ${this.type.denyCommand(name)}`;
  }

  private closedReason({ resource }: ListOfResource): string | null {
    const { publicNetworkAccess: given = null } = resource.properties as Json;
    const access = typeof given === 'string' ? given : JSON.stringify(given);
    if (given === null || access.toLowerCase() === 'enabled') return null;
    const { name } = this.given;
    return `Public access to ${name} is ${access}: no address is let in. Enable it for selected networks`;
  }

  /** An open list is shown as a rule for everybody; rules of ours without effect say why. */
  private observedRules(list: ListOfResource): ObservedRule[] {
    const open = this.openReason(list);
    const noEffect = open ?? this.closedReason(list);
    const everybody = open === null ? [] : ANY_ADDRESS;
    const ranges = [...new Set(list.entries.flatMap((entry) => this.form.own(entry) ?? []))];
    return [
      ...ranges.map((cidr) => ({
        key: keyOfCidr(cidr),
        providerRuleId: this.form.idOf(cidr),
        ownRuleId: this.given.target.claims.get(keyOfCidr(cidr)) ?? null,
        ...(noEffect !== null && { noEffect }),
      })),
      ...everybody.map((cidr) => ({ key: keyOfCidr(cidr), providerRuleId: cidr, ownRuleId: null })),
    ];
  }
}

const isEntry = (item: unknown): item is Json & { readonly value: string } =>
  isRecord(item) && typeof item.value === 'string';

const listForm = ({ noun, hosts }: ListType): ListForm => ({
  // some services change spellings
  ...BY_MEANING,
  spell: (cidr) => {
    const range = canonicalCidr(cidr);
    if (range?.cidr !== cidr) return refused('invalid', `${cidr} is no address or range`);
    if (range.version === 6) return refused('wrong-family', `A ${noun} takes IPv4 addresses only`);
    if (hosts === 'bare' && range.prefix === 31)
      return refused('invalid', `A ${noun} takes no range of two addresses: use two`);
    return hosts === 'bare' && range.prefix === 32 ? cidr.replace('/32', '') : cidr;
  },
  whenEmpty: 'closed',
});
