import type { CloudAnswer, CloudProvider, CloudRequest, NO_ANSWER, World } from '../provider';
import type { UnmanagedRuleChange, UnmanagedRuleSpec } from '../provider';
import type { OpenRule } from '../ground-truth/ledger';
import { readAddressOrCidr } from '../cidr';
import { Credentials } from './credentials';
import { EC2_EFFECTS, Ec2Endpoint } from './ec2-endpoint';
import { CLUSTERS, EksClusters } from './eks-clusters';
import { JSON_EFFECTS, JsonEndpoint } from './json-endpoint';
import { readPermissions } from './permissions';
import { Organizations } from './organizations';
import { isListId, PrefixListEditor } from './prefix-list-editor';
import { PrefixLists, type SavedList } from './prefix-lists';
import { QueryForm } from './query-form';
import { SecurityGroups, type SecurityGroupRule } from './security-groups';
import { STS_EFFECTS, StsEndpoint } from './sts-endpoint';
import { IP_SETS, WafIpSets } from './waf-ip-sets';

interface SavedState {
  readonly rules: SecurityGroupRule[];
  readonly lists: SavedList[];
  readonly sets: ReturnType<WafIpSets['all']>;
  readonly clusters: ReturnType<EksClusters['all']>;
}

/** AWS: EC2 below `/aws/ec2`, STS below `/aws/sts`, WAF below `/aws/wafv2`, EKS below `/aws/eks`, Organizations. */
export class AwsProvider implements CloudProvider {
  readonly provider = 'AWS';
  readonly prefix = '/aws';
  readonly targets: readonly string[];
  readonly operations = { ...EC2_EFFECTS, ...STS_EFFECTS, ...JSON_EFFECTS };
  private readonly groups: SecurityGroups;
  private readonly lists: PrefixLists;
  private readonly listEditor: PrefixListEditor;
  private readonly sets: WafIpSets;
  private readonly clusters: EksClusters;
  private readonly json: Readonly<Record<string, JsonEndpoint>>;
  private readonly ec2: Ec2Endpoint;
  private readonly sts: StsEndpoint;
  private readonly credentials: Credentials;

  constructor(world: World) {
    this.lists = new PrefixLists(world);
    this.groups = new SecurityGroups(world, this.lists);
    this.listEditor = new PrefixListEditor(this.lists);
    this.sets = new WafIpSets(world);
    this.clusters = new EksClusters(world);
    this.targets = [...this.groups.ids, ...this.lists.ids, ...IP_SETS, ...CLUSTERS];
    this.credentials = new Credentials(world.clock);
    this.json = {
      wafv2: new JsonEndpoint(world, this.sets, this.credentials),
      eks: new JsonEndpoint(world, this.clusters, this.credentials),
      organizations: new JsonEndpoint(world, new Organizations(world), this.credentials),
    };
    this.ec2 = new Ec2Endpoint(world, { groups: this.groups, lists: this.lists }, this.credentials);
    this.sts = new StsEndpoint(world, this.credentials);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const [, , service] = request.path.split('/');
    if (service === 'ec2') return this.ec2.handle(request);
    if (service === 'sts') return this.sts.handle(request);
    const json = service === undefined ? undefined : this.json[service];
    if (json) return json.handle(request);
    const body = 'AWS is simulated at /aws/ec2, /aws/sts, /aws/wafv2, /aws/eks and /aws/organizations.\n';
    return { status: 404, headers: { 'content-type': 'text/plain' }, body, outcome: 'UnknownEndpoint' };
  }

  addUnmanagedRule(rule: UnmanagedRuleSpec): string {
    if (isListId(rule.target)) return this.listEditor.add(rule);
    const service = this.serviceOf(rule.target);
    if (service) return service.add(rule.target, rule.address);
    this.groups.check(rule.target);
    const specs = readPermissions(permissionForm(rule));
    this.groups.checkAddition(rule.target, specs);
    const [added] = this.groups.add(rule.target, specs, []);
    return added!.id;
  }

  removeRules(target: string, open: readonly OpenRule[]): void {
    if (isListId(target)) return this.listEditor.remove(target, idsOf(open));
    const service = this.serviceOf(target);
    if (service) return service.remove(target, idsOf(open));
    for (const rule of this.rulesOf(open)) this.groups.remove(rule);
  }

  /** Like the console: the rule keeps its id, and its description unless that is changed too. */
  changeRules(target: string, open: readonly OpenRule[], change: UnmanagedRuleChange): void {
    if (isListId(target)) return this.listEditor.describe(target, idsOf(open), change);
    // entries are their addresses
    if (this.serviceOf(target)) return;
    for (const rule of this.rulesOf(open)) {
      const { address, fromPort, toPort, protocol } = open.find((one) => one.providerRuleId === rule.id)!;
      const [spec] = readPermissions(
        permissionForm({
          target,
          address: change.address ?? address,
          protocol: change.protocol ?? protocol,
          fromPort: change.fromPort ?? (change.protocol === 'all' ? null : fromPort),
          toPort: change.toPort ?? (change.protocol === 'all' ? null : toPort),
          description: change.description ?? rule.description,
        }),
      );
      this.groups.modify(rule, spec!);
    }
  }

  revokeTokens(): void {
    this.credentials.sessions.revokeAll();
  }

  save(): SavedState {
    const rules = this.groups.rules().filter((rule) => !rule.isEgress);
    return { rules, lists: this.lists.save(), sets: this.sets.all(), clusters: this.clusters.all() };
  }

  restore(saved: unknown): void {
    const { rules, lists, sets, clusters } = saved as SavedState;
    this.sets.restore(sets);
    this.clusters.restore(clusters);
    this.groups.restore(rules);
    this.lists.restore(lists);
  }

  reset(): void {
    this.groups.reset();
    this.lists.reset();
    this.sets.reset();
    this.clusters.reset();
    this.credentials.sessions.reset();
  }

  private serviceOf(target: string): WafIpSets | EksClusters | undefined {
    if (IP_SETS.includes(target)) return this.sets;
    return CLUSTERS.includes(target) ? this.clusters : undefined;
  }

  private rulesOf(open: readonly OpenRule[]): SecurityGroupRule[] {
    return idsOf(open).flatMap((id) => this.groups.find(id) ?? []);
  }
}

const idsOf = (rules: readonly OpenRule[]): string[] => rules.map(({ providerRuleId }) => providerRuleId);

/** The change of another program as a request, so that it passes the same checks. */
function permissionForm(rule: UnmanagedRuleSpec): QueryForm {
  const cidr = readAddressOrCidr(rule.address);
  const isTransport = rule.protocol === 'tcp' || rule.protocol === 'udp';
  const range = cidr?.version === 6 ? 'Ipv6Ranges.1' : 'IpRanges.1';
  const fields = new URLSearchParams({
    'IpPermissions.1.IpProtocol': rule.protocol,
    'IpPermissions.1.FromPort': String(rule.fromPort ?? (isTransport ? 0 : -1)),
    'IpPermissions.1.ToPort': String(rule.toPort ?? (isTransport ? (rule.fromPort ?? 65535) : -1)),
    [`IpPermissions.1.${range}.${cidr?.version === 6 ? 'CidrIpv6' : 'CidrIp'}`]: cidr?.text ?? rule.address,
    [`IpPermissions.1.${range}.Description`]: rule.description ?? '',
  });
  return QueryForm.parse(fields.toString());
}
