import { bareAddress, readAddressOrCidr } from '../cidr';
import type { OpenRule } from '../ground-truth/ledger';
import {
  OutsideEditRefused,
  type CloudAnswer,
  type CloudProvider,
  type CloudRequest,
  type UnmanagedRuleSpec,
  type UnmanagedRuleFilter,
  type NO_ANSWER,
  type World,
} from '../provider';
import { ApiEndpoint, EFFECTS, VERCEL_PREFIX, type ApiLimits } from './api-endpoint';
import { Firewalls, PROJECTS, type FirewallLimits } from './firewalls';
import { isGuard, type Firewall, type StoredRule } from './openings';
import { addressesOf, type Condition } from './rule-input';

export interface VercelOptions extends ApiLimits, FirewallLimits {}

const EVERYTHING: Condition = { type: 'path', op: 'pre', value: '/' };

/** Vercel: its REST API below `/vercel`. */
export class VercelProvider implements CloudProvider {
  readonly provider = 'VERCEL';
  readonly prefix = VERCEL_PREFIX;
  readonly targets = PROJECTS;
  readonly operations = EFFECTS;
  private readonly firewalls: Firewalls;
  private readonly api: ApiEndpoint;

  constructor(
    private readonly world: World,
    options: VercelOptions,
  ) {
    this.firewalls = new Firewalls(world, options);
    this.api = new ApiEndpoint(world, this.firewalls, options);
  }

  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    return this.api.handle(request);
  }

  /** Who owns the project lets an address past its guards by a rule that skips them. */
  addUnmanagedRule({ target, address, description }: UnmanagedRuleSpec): OpenRule {
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw new OutsideEditRefused('bad_request', `${address} is no IP address or CIDR`);
    const value = bareAddress(cidr.text);
    const { id } = this.firewalls.prepend(target, {
      name: `Let ${value} in`,
      ...(description !== undefined && { description }),
      active: true,
      conditionGroup: [{ conditions: [{ type: 'ip_address', op: 'eq', value }] }],
      action: { mitigate: { action: 'bypass' } },
    });
    const providerRuleId = `${id}#${value}`;
    const opened = this.open(target).find((rule) => rule.providerRuleId === providerRuleId);
    if (opened) return opened;
    throw new Error('A rule that was just added is not in the ledger');
  }

  removeRules(filter: UnmanagedRuleFilter): OpenRule[] {
    const cidr = filter.address === undefined ? null : readAddressOrCidr(filter.address);
    if (filter.address !== undefined && !cidr)
      throw new OutsideEditRefused('bad_request', `${filter.address} is no IP address or CIDR`);
    const fitting = this.open(filter.target)
      .filter(({ address }) => cidr === null || address === bareAddress(cidr.text))
      .filter(({ protocol }) => filter.protocol === undefined || protocol === filter.protocol)
      .filter(() => filter.fromPort === undefined && filter.toPort === undefined);
    for (const { address, providerRuleId } of fitting) {
      const rule = this.firewalls
        .get(filter.target)
        ?.rules.find(({ id }) => providerRuleId === `${id}#${address}`);
      if (rule) this.takeOut(filter.target, rule, address);
    }
    return fitting;
  }

  remember(): Record<string, Firewall | null> {
    return this.firewalls.all();
  }

  /** Nothing is remembered in a file from before Vercel was simulated. */
  recall(remembered: unknown): void {
    const firewalls = (remembered ?? {}) as Record<string, Firewall | null>;
    for (const [project, firewall] of Object.entries(firewalls))
      if (firewall) this.firewalls.recall(project, firewall);
  }

  reset(): void {
    this.firewalls.reset();
    this.api.reset();
  }

  private open(target: string): OpenRule[] {
    return this.world.ledger.list({ provider: this.provider, target });
  }

  /** A condition that names nobody is left out: a guard keeps everybody out then, and another rule does nothing. */
  private takeOut(project: string, { id, ...rule }: StoredRule, address: string): void {
    const conditions = rule.conditionGroup
      .flatMap((group) => group.conditions)
      .map((condition) => without(condition, address))
      .filter((condition) => condition !== null);
    const about = conditions.length > 0 ? conditions : isGuard(rule) ? [EVERYTHING] : null;
    this.firewalls.change(
      project,
      about
        ? { action: 'rules.update', id, value: { ...rule, conditionGroup: [{ conditions: about }] } }
        : { action: 'rules.remove', id },
    );
  }
}

function without(condition: Condition, address: string): Condition | null {
  if (condition.type !== 'ip_address') return condition;
  const value = addressesOf(condition).filter(
    (entry) => bareAddress(readAddressOrCidr(entry)?.text ?? entry) !== address,
  );
  return value.length === 0 ? null : { ...condition, value: condition.op === 'eq' ? value[0]! : value };
}
