import { readAddressOrCidr, bareAddress } from '../cidr';
import type { OpenRule } from '../ground-truth/ledger';
import { IssuedTokens } from '../issued-tokens';
import {
  OutsideEditRefused,
  type CloudAnswer,
  type CloudProvider,
  type CloudRequest,
  type UnmanagedRuleSpec,
  type UnmanagedRuleChange,
  type UnmanagedRuleFilter,
  type NO_ANSWER,
  type World,
} from '../provider';
import { COMPUTE_EFFECTS, ComputeEndpoint } from './compute-endpoint';
import { readFirewall } from './firewall-input';
import { firewallJson } from './firewall-json';
import { Firewalls, NETWORKS, networkPath, newId, type Firewall } from './firewalls';
import { GcpError } from './gcp-error';
import { Operations } from './operations';
import { PROJECT } from './service-account';
import { TOKEN_EFFECTS, TokenEndpoint } from './token-endpoint';
import { WORKLOAD_EFFECTS, WorkloadIdentity } from './workload-identity';

export interface GcpOptions {
  /** firewall rules the project may have */
  readonly firewallsPerProject: number;
  /** how long an accepted write takes, ms */
  readonly operationMs: number;
}

/** GCP: Compute below `/gcp/compute/v1`, the token endpoint at `/gcp/token`. */
export class GcpProvider implements CloudProvider {
  readonly provider = 'GCP';
  readonly prefix = '/gcp';
  readonly targets = NETWORKS;
  readonly hasDenials = true;
  readonly operations = { ...COMPUTE_EFFECTS, ...TOKEN_EFFECTS, ...WORKLOAD_EFFECTS };
  private readonly firewalls: Firewalls;
  private readonly pending: Operations;
  private readonly compute: ComputeEndpoint;
  private readonly tokens: TokenEndpoint;
  private readonly workloads: WorkloadIdentity;
  private readonly issued: IssuedTokens;

  constructor(
    private readonly world: World,
    { firewallsPerProject, operationMs }: GcpOptions,
  ) {
    this.firewalls = new Firewalls(world, firewallsPerProject);
    this.pending = new Operations(world, operationMs);
    this.issued = new IssuedTokens(world.clock);
    this.compute = new ComputeEndpoint(world, firewallsPerProject, this.issued, {
      firewalls: this.firewalls,
      operations: this.pending,
    });
    this.tokens = new TokenEndpoint(world, this.issued);
    this.workloads = new WorkloadIdentity(world, this.issued);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    if (request.path === '/gcp/token') return this.tokens.handle(request);
    return WorkloadIdentity.serves(request) ? this.workloads.handle(request) : this.compute.handle(request);
  }

  /** The part of a rule is a tag of instances. */
  addUnmanagedRule(rule: UnmanagedRuleSpec): OpenRule | null {
    const id = newId();
    return asGcpError(() => {
      const spec = readFirewall(bodyOfUnmanaged(rule, id), PROJECT);
      this.firewalls.checkAddition(spec, this.pending.rulesInProgress('insert'));
      this.firewalls.add(spec, id);
      return rule.isDenial ? null : this.openRule(`${spec.name}#${id}`);
    });
  }

  removeRules(filter: UnmanagedRuleFilter): OpenRule[] {
    const matching = this.matching(filter);
    for (const rule of this.rulesOf(matching)) this.firewalls.remove(rule);
    return matching;
  }

  /** Like `gcloud compute firewall-rules update`: the rule keeps its name and number. */
  changeRules(filter: UnmanagedRuleFilter, change: UnmanagedRuleChange): OpenRule[] {
    const rules = this.rulesOf(this.matching(filter));
    return asGcpError(() => {
      for (const rule of rules) this.firewalls.change(readFirewall(changedBody(rule, change), PROJECT));
      const changed = new Set(rules.map(({ name, id }) => `${name}#${id}`));
      return this.world.ledger
        .list({ provider: this.provider, target: filter.target })
        .filter(({ providerRuleId }) => changed.has(providerRuleId.split('/')[0] ?? ''));
    });
  }

  setPolicies(target: string, policies: readonly object[], isFirst: boolean): void {
    const order = isFirst ? 'BEFORE_CLASSIC_FIREWALL' : 'AFTER_CLASSIC_FIREWALL';
    this.firewalls.setPolicies(target, { policies, order });
  }

  revokeTokens(): void {
    this.issued.revokeAll();
  }

  private matching(filter: UnmanagedRuleFilter): OpenRule[] {
    const address = filter.address === undefined ? undefined : canonicalAddress(filter.address);
    return this.world.ledger
      .list({ provider: this.provider, target: filter.target })
      .filter((rule) => address === undefined || rule.address === address)
      .filter((rule) => filter.protocol === undefined || rule.protocol === filter.protocol)
      .filter((rule) => filter.fromPort === undefined || rule.fromPort === filter.fromPort)
      .filter((rule) => filter.toPort === undefined || rule.toPort === filter.toPort);
  }

  /** The distinct rules behind ledger rules: one rule can have several. */
  private rulesOf(ledgerRules: readonly OpenRule[]): Firewall[] {
    const names = new Set(ledgerRules.map(({ providerRuleId }) => providerRuleId.split('#')[0] ?? ''));
    return [...names].map((name) => this.firewalls.find(name)).filter((rule) => rule !== undefined);
  }

  save(): Firewall[] {
    return this.firewalls.list();
  }

  restore(saved: unknown): void {
    // absent in state files from before this cloud was simulated
    this.firewalls.restore((saved ?? []) as Firewall[]);
  }

  reset(): void {
    this.firewalls.reset();
    this.pending.reset();
    this.compute.reset();
    this.issued.reset();
  }

  private openRule(providerRuleId: string): OpenRule {
    const open = this.world.ledger.list({ provider: this.provider });
    const rule = open.find((candidate) => candidate.providerRuleId === providerRuleId);
    if (!rule) throw new Error('A rule that was just added is not in the ledger');
    return rule;
  }
}

/** The change of another program as a request, so that it passes the same checks. */
function bodyOfUnmanaged(rule: UnmanagedRuleSpec, id: string): Readonly<Record<string, unknown>> {
  const hasPorts = rule.fromPort !== null && (rule.protocol === 'tcp' || rule.protocol === 'udp');
  const ports = `${rule.fromPort}-${rule.toPort ?? rule.fromPort}`.replace(/^(\d+)-\1$/, '$1');
  return {
    name: `by-hand-${id}`,
    network: networkPath(rule.target),
    sourceRanges: [rule.address],
    [rule.isDenial ? 'denied' : 'allowed']: [
      { IPProtocol: rule.protocol === 'icmpv6' ? '58' : rule.protocol, ...(hasPorts && { ports: [ports] }) },
    ],
    ...(rule.priority !== undefined && { priority: rule.priority }),
    ...(rule.part !== undefined && { targetTags: [rule.part] }),
    ...(rule.description !== undefined && { description: rule.description }),
  };
}

/** The request that changes some fields of a rule. */
function changedBody(
  rule: Firewall,
  { address, protocol, fromPort, toPort, description }: UnmanagedRuleChange,
): Readonly<Record<string, unknown>> {
  const { id: _, ...body } = firewallJson(rule);
  const changesTraffic = protocol !== undefined || fromPort !== undefined || toPort !== undefined;
  const { allowed } = bodyOfUnmanaged(
    {
      target: rule.network,
      address: '',
      protocol: protocol ?? rule.allowed[0]?.IPProtocol ?? 'tcp',
      fromPort: fromPort ?? null,
      toPort: toPort ?? null,
      description: undefined,
    },
    rule.id,
  );
  return {
    ...body,
    ...(address !== undefined && { sourceRanges: [address] }),
    ...(changesTraffic && { allowed }),
    ...(description !== undefined && { description }),
  };
}

function canonicalAddress(text: string): string {
  const cidr = readAddressOrCidr(text);
  if (!cidr) throw new OutsideEditRefused('invalid', `${text} is not an IP address range`);
  return bareAddress(cidr.text);
}

function asGcpError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof GcpError) throw new OutsideEditRefused(error.reason, error.message);
    throw error;
  }
}
