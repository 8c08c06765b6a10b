import { randomUUID } from 'node:crypto';
import type { CloudAnswer, CloudProvider, CloudRequest, LockLevel, NO_ANSWER, World } from '../provider';
import type { UnmanagedRuleChange, UnmanagedRuleSpec } from '../provider';
import type { OpenRule } from '../ground-truth/ledger';
import { SealedTokens } from '../sealed-tokens';
import { ARM_EFFECTS, ArmEndpoint } from './arm-endpoint';
import { Operations } from './operations';
import { ARM_PREFIX, type AccessTokens } from './principal';
import { readRuleProperties } from './rule-content';
import { GROUPS, SecurityGroups, type SecurityRule } from './security-groups';
import { ServiceRules } from './services/service-rules';
import { SERVICE_TARGETS, serviceOf } from './services/service-types';
import { Services, type SavedServices } from './services/services';
import { TOKEN_OPERATION, TokenEndpoint } from './token-endpoint';

const LOGIN = /^\/azure\/login\/([^/]+)\/oauth2\/v2\.0\/token$/;
const FIRST_UNMANAGED_PRIORITY = 100;

/** What survives a restart. */
interface SavedState {
  readonly groups: readonly SecurityRule[];
  readonly services: SavedServices;
}

/** Azure: tokens below `/azure/login`, the resource manager below `/azure/arm`. */
export class AzureProvider implements CloudProvider {
  readonly provider = 'AZURE';
  readonly prefix = '/azure';
  readonly targets = [...GROUPS, ...SERVICE_TARGETS];
  readonly hasDenials = true;
  readonly operations = { ...ARM_EFFECTS, [TOKEN_OPERATION]: 'identity' as const };
  private readonly running: Operations;
  private readonly groups: SecurityGroups;
  private readonly services: Services;
  private readonly rules: ServiceRules;
  private readonly arm: ArmEndpoint;
  private readonly tokens: TokenEndpoint;
  private readonly issued: AccessTokens;

  constructor(world: World) {
    this.running = new Operations(world.sizes.azureOperationMs);
    this.groups = new SecurityGroups(world, this.running);
    this.services = new Services(world);
    this.rules = new ServiceRules(this.services);
    this.issued = new SealedTokens(world.clock, 'simulated-token-sealing-key');
    this.arm = new ArmEndpoint(world, this.groups, this.running, this.issued, this.services);
    this.tokens = new TokenEndpoint(world, this.issued);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const [, tenant] = LOGIN.exec(request.path) ?? [];
    if (tenant !== undefined) return this.tokens.handle(request, tenant.toLowerCase());
    if (request.path.startsWith(`${ARM_PREFIX}/`)) return this.arm.handle(request);
    const body = 'Azure is simulated at /azure/login and /azure/arm.\n';
    return { status: 404, headers: { 'content-type': 'text/plain' }, body, outcome: 'UnknownEndpoint' };
  }

  /** Like the portal: without a priority, the rule gets the next free one. Its part is a destination. */
  addUnmanagedRule(rule: UnmanagedRuleSpec): string | null {
    const { target } = rule;
    if (serviceOf(target)) return this.rules.add(target, rule.address);
    const priority = rule.priority ?? this.freePriority(target);
    const name = `unmanaged-${randomUUID()}`;
    const body = JSON.stringify({ properties: propertiesOf(rule, priority) });
    const properties = readRuleProperties(body, name);
    this.groups.checkCapacity(target, name, properties);
    this.groups.write(target, name, properties);
    return rule.isDenial ? null : name;
  }

  removeRules(target: string, open: readonly OpenRule[]): void {
    if (serviceOf(target)) this.rules.remove(target, open);
    else for (const rule of this.rulesOf(target, open)) this.groups.remove(rule);
  }

  /** Like the portal: the rule keeps its name and priority. */
  changeRules(target: string, open: readonly OpenRule[], change: UnmanagedRuleChange): void {
    if (serviceOf(target)) return this.rules.change(target, open, change);
    for (const rule of this.rulesOf(target, open)) {
      const body = JSON.stringify({ properties: changedProperties(rule, change) });
      this.groups.write(target, rule.name, readRuleProperties(body, rule.name));
    }
  }

  lock(target: string, level: LockLevel | undefined): void {
    const { locks } = serviceOf(target) ? this.services : this.groups;
    locks.delete(target);
    if (level) locks.set(target, level);
  }

  revokeTokens(): void {
    this.issued.revokeAll();
  }

  private freePriority(target: string): number {
    const taken = new Set(this.groups.list(target).map(({ properties }) => properties.priority));
    let priority = FIRST_UNMANAGED_PRIORITY;
    while (taken.has(priority)) priority += 1;
    return priority;
  }

  /** The distinct rules behind ledger rules: one rule can have several. */
  private rulesOf(target: string, ledgerRules: readonly OpenRule[]): SecurityRule[] {
    const names = new Set(ledgerRules.map(({ providerRuleId }) => providerRuleId.replace(/#\d+$/, '')));
    return [...names].map((name) => this.groups.get(target, name)).filter((rule) => rule !== undefined);
  }

  save(): SavedState {
    return { groups: this.groups.all(), services: this.services.all() };
  }

  restore(saved: unknown): void {
    const { groups, services } = saved as SavedState;
    this.groups.restore(groups);
    this.services.restore(services);
  }

  reset(): void {
    this.groups.reset();
    this.services.reset();
    this.running.clear();
    this.issued.reset();
  }
}

const protocolOf = (protocol: string): string =>
  protocol === 'all' ? '*' : `${protocol.charAt(0).toUpperCase()}${protocol.slice(1)}`;

const portRangeOf = (from: number | null, to: number | null): string =>
  from === null ? '*' : to === null || from === to ? `${from}` : `${from}-${to}`;

function propertiesOf(rule: UnmanagedRuleSpec, priority: number): Record<string, unknown> {
  return {
    ...(rule.description !== undefined && { description: rule.description }),
    protocol: protocolOf(rule.protocol),
    access: rule.isDenial ? 'Deny' : 'Allow',
    direction: 'Inbound',
    priority,
    sourceAddressPrefix: rule.address,
    sourcePortRange: '*',
    destinationAddressPrefix: rule.part ?? '*',
    destinationPortRange: portRangeOf(rule.fromPort, rule.toPort),
  };
}

/** A rule's properties with some of them changed. */
function changedProperties(
  { properties }: SecurityRule,
  { address, protocol, fromPort, toPort, description, fields }: UnmanagedRuleChange,
): Record<string, unknown> {
  const { sourceAddressPrefixes, destinationPortRanges, ...rest } = properties;
  const ports =
    fromPort === undefined && toPort === undefined
      ? { destinationPortRanges }
      : { destinationPortRange: portRangeOf(fromPort ?? null, toPort ?? null) };
  return {
    ...rest,
    ...(address === undefined ? { sourceAddressPrefixes } : { sourceAddressPrefix: address }),
    ...ports,
    ...(protocol !== undefined && { protocol: protocolOf(protocol) }),
    ...(description !== undefined && { description }),
    ...fields,
  };
}
