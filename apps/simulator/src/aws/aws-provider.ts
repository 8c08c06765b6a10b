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
import type { OpenRule } from '../ground-truth/ledger';
import { IssuedTokens } from '../issued-tokens';
import { AwsError } from './aws-error';
import { readAddressOrCidr, bareAddress } from '../cidr';
import { EC2_EFFECTS, Ec2Endpoint, type Ec2Limits } from './ec2-endpoint';
import { readPermissions } from './permissions';
import { isListId, PrefixListEditor } from './prefix-list-editor';
import { PrefixLists, type SavedList } from './prefix-lists';
import { QueryForm } from './query-form';
import { SecurityGroups, type SecurityGroupRule } from './security-groups';
import { STS_EFFECTS, StsEndpoint } from './sts-endpoint';

export interface AwsOptions extends Ec2Limits {
  /** inbound rules a group may have for IPv4, and as many again for IPv6 */
  readonly rulesPerGroup: number;
  /** number of security groups */
  readonly groups: number;
  /** entries a prefix list may have */
  readonly entriesPerList: number;
  /** how long AWS takes to apply an accepted change of a prefix list, ms */
  readonly listChangeMs: number;
}

interface SavedState {
  readonly rules: SecurityGroupRule[];
  readonly lists: SavedList[];
}

/** AWS: EC2 below `/aws/ec2`, STS below `/aws/sts`. */
export class AwsProvider implements CloudProvider {
  readonly provider = 'AWS';
  readonly prefix = '/aws';
  readonly targets: readonly string[];
  readonly operations = { ...EC2_EFFECTS, ...STS_EFFECTS };
  private readonly groups: SecurityGroups;
  private readonly lists: PrefixLists;
  private readonly listEditor: PrefixListEditor;
  private readonly ec2: Ec2Endpoint;
  private readonly sts: StsEndpoint;
  private readonly issued: IssuedTokens;

  constructor(
    private readonly world: World,
    options: AwsOptions,
  ) {
    this.groups = new SecurityGroups(world, options.rulesPerGroup, options.groups);
    this.lists = new PrefixLists(world, {
      maxEntries: options.entriesPerList,
      changeMs: options.listChangeMs,
    });
    this.listEditor = new PrefixListEditor(this.lists);
    this.targets = [...this.groups.ids, ...this.lists.ids];
    this.issued = new IssuedTokens(world.clock);
    this.ec2 = new Ec2Endpoint(world, this.groups, this.lists, options, this.issued);
    this.sts = new StsEndpoint(world, this.issued);
  }

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const [, , service] = request.path.split('/');
    if (service === 'ec2') return this.ec2.handle(request);
    if (service === 'sts') return this.sts.handle(request);
    const body = 'AWS is simulated at /aws/ec2 and /aws/sts.\n';
    return { status: 404, headers: { 'content-type': 'text/plain' }, body, outcome: 'UnknownEndpoint' };
  }

  addUnmanagedRule(rule: UnmanagedRuleSpec): OpenRule {
    return asAwsError(() => {
      if (isListId(rule.target)) return this.openRule(this.listEditor.add(rule));
      this.groups.check(rule.target);
      const specs = readPermissions(permissionForm(rule));
      this.groups.checkAddition(rule.target, specs);
      const [added] = this.groups.add(rule.target, specs, []);
      return this.openRule(added?.id);
    });
  }

  removeRules(filter: UnmanagedRuleFilter): OpenRule[] {
    const matching = this.matching(filter);
    if (isListId(filter.target)) {
      asAwsError(() => this.listEditor.remove(filter, idsOf(matching)));
      return matching;
    }
    for (const { providerRuleId } of matching) {
      const rule = this.groups.find(providerRuleId);
      if (rule) this.groups.remove(rule);
    }
    return matching;
  }

  /** Like the console: the rule keeps its id, and its description unless that is changed too. */
  changeRules(filter: UnmanagedRuleFilter, change: UnmanagedRuleChange): OpenRule[] {
    if (isListId(filter.target)) return this.describeEntries(filter, change);
    return asAwsError(() =>
      this.matching(filter).map(({ providerRuleId, address, ...rule }) => {
        const known = this.groups.find(providerRuleId);
        if (!known) throw new Error('A rule in the ledger is in no group');
        const [spec] = readPermissions(
          permissionForm({
            target: rule.target,
            address: change.address ?? address,
            protocol: change.protocol ?? rule.protocol,
            fromPort: change.fromPort ?? (change.protocol === 'all' ? null : rule.fromPort),
            toPort: change.toPort ?? (change.protocol === 'all' ? null : rule.toPort),
            description: change.description ?? known.description,
          }),
        );
        this.groups.modify(known, spec!);
        return this.openRule(providerRuleId);
      }),
    );
  }

  revokeTokens(): void {
    this.issued.revokeAll();
  }

  private describeEntries(filter: UnmanagedRuleFilter, change: UnmanagedRuleChange): OpenRule[] {
    const ruleIds = idsOf(this.matching(filter));
    asAwsError(() => this.listEditor.describe(filter.target, ruleIds, change));
    return ruleIds.map((ruleId) => this.openRule(ruleId));
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

  save(): SavedState {
    const rules = this.groups.rules().filter((rule) => !rule.isEgress);
    return { rules, lists: this.lists.save() };
  }

  restore(saved: unknown): void {
    const { rules, lists } = saved as SavedState;
    this.groups.restore(rules);
    this.lists.restore(lists);
  }

  reset(): void {
    this.groups.reset();
    this.lists.reset();
    this.ec2.reset();
    this.issued.reset();
  }

  private openRule(ruleId: string | undefined): OpenRule {
    const open = this.world.ledger.list({ provider: this.provider });
    const rule = open.find((candidate) => candidate.providerRuleId === ruleId);
    if (!rule) throw new Error('A rule that was just added is not in the ledger');
    return rule;
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

function canonicalAddress(text: string): string {
  const cidr = readAddressOrCidr(text);
  if (!cidr) throw new OutsideEditRefused('InvalidParameterValue', `CIDR block ${text} is malformed`);
  return bareAddress(cidr.text);
}

function asAwsError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof AwsError) throw new OutsideEditRefused(error.code, error.message);
    throw error;
  }
}
