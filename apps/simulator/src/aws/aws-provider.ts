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
import { isListId, PrefixListHand } from './prefix-list-hand';
import { PrefixLists, type RememberedList } from './prefix-lists';
import { QueryForm } from './query-form';
import { SecurityGroups, type SecurityGroupRule } from './security-groups';
import { STS_EFFECTS, StsEndpoint } from './sts-endpoint';

export interface AwsOptions extends Ec2Limits {
  /** inbound rules a group may have for IPv4, and as many again for IPv6 */
  readonly rulesPerGroup: number;
  /** how many security groups there are */
  readonly groups: number;
  /** entries a prefix list may have */
  readonly entriesPerList: number;
  /** how long a change of a prefix list takes after it was accepted, ms */
  readonly listChangeMs: number;
}

interface Remembered {
  readonly rules: SecurityGroupRule[];
  readonly lists: RememberedList[];
}

/** AWS: EC2 below `/aws/ec2`, STS below `/aws/sts`. */
export class AwsProvider implements CloudProvider {
  readonly provider = 'AWS';
  readonly prefix = '/aws';
  readonly targets: readonly string[];
  readonly operations = { ...EC2_EFFECTS, ...STS_EFFECTS };
  private readonly groups: SecurityGroups;
  private readonly lists: PrefixLists;
  private readonly listHand: PrefixListHand;
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
    this.listHand = new PrefixListHand(this.lists);
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
      if (isListId(rule.target)) return this.openRule(this.listHand.add(rule));
      this.groups.check(rule.target);
      const specs = readPermissions(permissionForm(rule));
      this.groups.checkAddition(rule.target, specs);
      const [added] = this.groups.add(rule.target, specs, []);
      return this.openRule(added?.id);
    });
  }

  removeRules(filter: UnmanagedRuleFilter): OpenRule[] {
    const fitting = this.fitting(filter);
    if (isListId(filter.target)) {
      asAwsError(() => this.listHand.remove(filter, idsOf(fitting)));
      return fitting;
    }
    for (const { providerRuleId } of fitting) {
      const rule = this.groups.find(providerRuleId);
      if (rule) this.groups.remove(rule);
    }
    return fitting;
  }

  /** As the console does it: the rule keeps its id, and its description unless that is changed too. */
  changeRules(filter: UnmanagedRuleFilter, change: UnmanagedRuleChange): OpenRule[] {
    if (isListId(filter.target)) return this.describeEntries(filter, change);
    return asAwsError(() =>
      this.fitting(filter).map(({ providerRuleId, address, ...rule }) => {
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
    const ruleIds = idsOf(this.fitting(filter));
    asAwsError(() => this.listHand.describe(filter.target, ruleIds, change));
    return ruleIds.map((ruleId) => this.openRule(ruleId));
  }

  private fitting(filter: UnmanagedRuleFilter): OpenRule[] {
    const address = filter.address === undefined ? undefined : canonicalAddress(filter.address);
    return this.world.ledger
      .list({ provider: this.provider, target: filter.target })
      .filter((rule) => address === undefined || rule.address === address)
      .filter((rule) => filter.protocol === undefined || rule.protocol === filter.protocol)
      .filter((rule) => filter.fromPort === undefined || rule.fromPort === filter.fromPort)
      .filter((rule) => filter.toPort === undefined || rule.toPort === filter.toPort);
  }

  remember(): Remembered {
    const rules = this.groups.rules().filter((rule) => !rule.isEgress);
    return { rules, lists: this.lists.remember() };
  }

  recall(remembered: unknown): void {
    const { rules, lists } = remembered as Remembered;
    this.groups.recall(rules);
    this.lists.recall(lists);
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

/** Another program works through the same checks as a request. */
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
