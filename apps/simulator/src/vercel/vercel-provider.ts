import { bareAddress, readAddressOrCidr } from '../cidr';
import type { OpenRule } from '../ground-truth/ledger';
import type { CloudAnswer, CloudProvider, CloudRequest, NO_ANSWER, World } from '../provider';
import type { UnmanagedRuleSpec } from '../provider';
import { ApiEndpoint, EFFECTS, VERCEL_PREFIX } from './api-endpoint';
import { Firewalls, PROJECTS } from './firewalls';
import { isGuard, type Firewall, type StoredRule } from './ledger-rules';
import { addressesOf, type Condition } from './rule-input';
import { badRequest } from './vercel-error';

const EVERYTHING: Condition = { type: 'path', op: 'pre', value: '/' };

/** Vercel: its REST API below `/vercel`. */
export class VercelProvider implements CloudProvider {
  readonly provider = 'VERCEL';
  readonly prefix = VERCEL_PREFIX;
  readonly targets = PROJECTS;
  readonly operations = EFFECTS;
  private readonly firewalls: Firewalls;
  private readonly api: ApiEndpoint;

  constructor(world: World) {
    this.firewalls = new Firewalls(world);
    this.api = new ApiEndpoint(world, this.firewalls);
  }

  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    return this.api.handle(request);
  }

  /** Allows an address with a bypass rule before the guards. */
  addUnmanagedRule({ target, address, description }: UnmanagedRuleSpec): string {
    const cidr = readAddressOrCidr(address);
    if (!cidr) throw badRequest(`${address} is not an IP address or CIDR`);
    const value = bareAddress(cidr.text);
    const { id } = this.firewalls.prepend(target, {
      name: `Allow ${value}`,
      ...(description !== undefined && { description }),
      active: true,
      conditionGroup: [{ conditions: [{ type: 'ip_address', op: 'eq', value }] }],
      action: { mitigate: { action: 'bypass' } },
    });
    return `${id}#${value}`;
  }

  removeRules(target: string, open: readonly OpenRule[]): void {
    for (const { address, providerRuleId } of open) {
      const rules = this.firewalls.get(target)?.rules ?? [];
      const rule = rules.find(({ id }) => providerRuleId === `${id}#${address}`);
      if (rule) this.removeAddress(target, rule, address);
    }
  }

  save(): Record<string, Firewall | null> {
    return this.firewalls.all();
  }

  restore(saved: unknown): void {
    const firewalls = saved as Record<string, Firewall | null>;
    for (const [project, firewall] of Object.entries(firewalls))
      if (firewall) this.firewalls.write(project, firewall);
  }

  reset(): void {
    this.firewalls.reset();
  }

  /** Drops a condition that becomes empty: a guard without addresses denies everybody, any other rule is removed. */
  private removeAddress(project: string, { id, ...rule }: StoredRule, address: string): void {
    const conditions = rule.conditionGroup
      .flatMap((group) => group.conditions)
      .map((condition) => without(condition, address))
      .filter((condition) => condition !== null);
    const remaining = conditions.length > 0 ? conditions : isGuard(rule) ? [EVERYTHING] : null;
    this.firewalls.change(
      project,
      remaining
        ? { action: 'rules.update', id, value: { ...rule, conditionGroup: [{ conditions: remaining }] } }
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
