import type { OpenRule } from '../ground-truth/ledger';
import type { CloudAnswer, CloudProvider, CloudRequest, NO_ANSWER, World } from '../provider';
import type { UnmanagedRuleChange, UnmanagedRuleSpec } from '../provider';
import { SealedTokens } from '../sealed-tokens';
import { COMPUTE_EFFECTS, ComputeEndpoint } from './compute-endpoint';
import { readFirewall } from './firewall-input';
import { firewallJson } from './firewall-json';
import { Firewalls, NETWORKS, networkPath, newId, type Firewall } from './firewalls';
import { Operations } from './operations';
import { PROJECT } from './service-account';
import { TOKEN_EFFECTS, TokenEndpoint, type AccessTokens } from './token-endpoint';
import { WORKLOAD_EFFECTS, WorkloadIdentity } from './workload-identity';

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
  private readonly issued: AccessTokens;

  constructor(world: World) {
    this.firewalls = new Firewalls(world);
    this.pending = new Operations(world);
    this.issued = new SealedTokens(world.clock, 'simulated-access-token-key');
    this.compute = new ComputeEndpoint(world, this.issued, {
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
  addUnmanagedRule(rule: UnmanagedRuleSpec): string | null {
    const id = newId();
    const spec = readFirewall(bodyOfUnmanaged(rule, id), PROJECT);
    this.firewalls.checkAddition(spec, this.pending.rulesInProgress('insert'));
    this.firewalls.add(spec, id);
    return rule.isDenial ? null : `${spec.name}#${id}`;
  }

  removeRules(_target: string, open: readonly OpenRule[]): void {
    for (const rule of this.rulesOf(open)) this.firewalls.remove(rule);
  }

  /** Like `gcloud compute firewall-rules update`: the rule keeps its name and number. */
  changeRules(_target: string, open: readonly OpenRule[], change: UnmanagedRuleChange): void {
    for (const rule of this.rulesOf(open))
      this.firewalls.change(readFirewall(changedBody(rule, change), PROJECT));
  }

  setPolicies(target: string, policies: readonly object[], isFirst: boolean): void {
    const order = isFirst ? 'BEFORE_CLASSIC_FIREWALL' : 'AFTER_CLASSIC_FIREWALL';
    this.firewalls.setPolicies(target, { policies, order });
  }

  revokeTokens(): void {
    this.issued.revokeAll();
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
    this.firewalls.restore(saved as Firewall[]);
  }

  reset(): void {
    this.firewalls.reset();
    this.pending.reset();
    this.issued.reset();
  }
}

function trafficOf({
  protocol,
  fromPort,
  toPort,
}: Pick<UnmanagedRuleSpec, 'protocol' | 'fromPort' | 'toPort'>): object {
  const hasPorts = fromPort !== null && (protocol === 'tcp' || protocol === 'udp');
  const ports = `${fromPort}-${toPort ?? fromPort}`.replace(/^(\d+)-\1$/, '$1');
  return { IPProtocol: protocol === 'icmpv6' ? '58' : protocol, ...(hasPorts && { ports: [ports] }) };
}

/** The change of another program as a request, so that it passes the same checks. */
function bodyOfUnmanaged(rule: UnmanagedRuleSpec, id: string): Readonly<Record<string, unknown>> {
  return {
    name: `by-hand-${id}`,
    network: networkPath(rule.target),
    sourceRanges: [rule.address],
    [rule.isDenial ? 'denied' : 'allowed']: [trafficOf(rule)],
    ...(rule.priority !== undefined && { priority: rule.priority }),
    ...(rule.part !== undefined && { targetTags: [rule.part] }),
    ...(rule.description !== undefined && { description: rule.description }),
  };
}

/** The request that changes some fields of a rule. */
function changedBody(
  rule: Firewall,
  { address, protocol, fromPort, toPort, description, fields }: UnmanagedRuleChange,
): Readonly<Record<string, unknown>> {
  const { id: _, ...body } = firewallJson(rule);
  const changesTraffic = protocol !== undefined || fromPort !== undefined || toPort !== undefined;
  const traffic = trafficOf({
    protocol: protocol ?? rule.allowed[0]?.IPProtocol ?? 'tcp',
    fromPort: fromPort ?? null,
    toPort: toPort ?? null,
  });
  return {
    ...body,
    ...(address !== undefined && { sourceRanges: [address] }),
    ...(changesTraffic && { allowed: [traffic] }),
    ...(description !== undefined && { description }),
    ...fields,
  };
}
