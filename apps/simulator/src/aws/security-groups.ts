import { randomBytes } from 'node:crypto';
import { History } from '../ground-truth/history';
import { carriesMark, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import { awsError, groupNotFound, ruleLimitExceeded } from './aws-error';
import { bareAddress } from '../cidr';
import { describeSpec, identityOf, checkDuplicates, type RuleSpec } from './permissions';
import type { PrefixLists } from './prefix-lists';
import type { Tag } from './tags';

export interface SecurityGroupRule extends RuleSpec {
  readonly id: string;
  readonly groupId: string;
  readonly isEgress: boolean;
  readonly tags: readonly Tag[];
  /** order of creation, for stable paging while rules are added and removed */
  readonly ordinal: number;
}

/** A group's id; ids count up in hexadecimal. @param index 0 for the first group */
const groupIdOf = (index: number): string =>
  `sg-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

const ANYWHERE = { protocol: '-1', fromPort: -1, toPort: -1, version: 4, source: '0.0.0.0/0' } as const;

/** Security groups, the same in every region, with their rules. */
export class SecurityGroups {
  readonly ids: readonly string[];
  private groups = new Map<string, History<SecurityGroupRule>>();
  private nextOrdinal = 1;

  constructor(
    private readonly world: World,
    private readonly lists: PrefixLists,
  ) {
    this.ids = Array.from({ length: world.sizes.groups }, (_, index) => groupIdOf(index));
    this.reset();
  }

  /** Empties the groups, except for the one outbound rule that AWS creates in each. */
  reset(): void {
    this.groups = new Map(
      this.ids.map((groupId) => [groupId, new History(this.world, (rule) => [ledgerRuleOf(rule)])]),
    );
    for (const groupId of this.ids) {
      const id = `sgr-${groupId.slice(3).split('').toReversed().join('')}`;
      const rule = { ...ANYWHERE, description: undefined, id, groupId, isEgress: true, tags: [] };
      this.groups.get(groupId)!.init(id, { ...rule, ordinal: this.nextOrdinal++ });
    }
  }

  /** Restores rules of an earlier run with their ids, in the groups that still exist. */
  restore(rules: readonly SecurityGroupRule[]): void {
    for (const rule of rules.filter(({ groupId }) => this.groups.has(groupId)))
      this.write({ ...rule, ordinal: this.nextOrdinal++ });
  }

  /** @throws CloudError when the id is malformed or unknown */
  check(groupId: string): void {
    if (!groupId.startsWith('sg-')) {
      throw awsError('InvalidGroupId.Malformed', `Invalid id: "${groupId}" (expecting "sg-...")`);
    }
    if (!/^sg-([0-9a-f]{8}|[0-9a-f]{17})$/.test(groupId)) {
      throw awsError('InvalidGroupId.Malformed', `The security-group ID '${groupId}' is malformed`);
    }
    if (!this.groups.has(groupId)) throw groupNotFound(groupId);
  }

  /**
   * Rules in order of creation.
   * @param groupId undefined: of every group
   * @param asOf microseconds since 1970: the state at that time, up to ten minutes back
   */
  rules(groupId?: string, asOf?: number): SecurityGroupRule[] {
    const groups = groupId === undefined ? [...this.groups.values()] : [this.groups.get(groupId)];
    return groups.flatMap((rules) => rules?.values(asOf) ?? []).sort((a, b) => a.ordinal - b.ordinal);
  }

  find(ruleId: string): SecurityGroupRule | undefined {
    return [...this.groups.values()].map((rules) => rules.get(ruleId)).find((rule) => rule !== undefined);
  }

  findSame(groupId: string, spec: RuleSpec): SecurityGroupRule | undefined {
    const identity = identityOf(spec);
    return this.rules(groupId).find((rule) => !rule.isEgress && identityOf(rule) === identity);
  }

  /** @throws CloudError when one of them is a duplicate, exists, or exceeds the limit: then none can be added */
  checkAddition(groupId: string, specs: readonly RuleSpec[]): void {
    checkDuplicates(specs);
    this.checkIdentity(groupId, specs);
    const inbound = this.rules(groupId).filter((rule) => !rule.isEgress);
    for (const family of [4, 6] as const) {
      const [desired, present] = [specs, inbound].map((rules) => this.weightOf(rules, family)) as [
        number,
        number,
      ];
      if (desired > 0 && present + desired > this.world.sizes.rulesPerGroup) throw ruleLimitExceeded();
    }
  }

  /** What counts for the limit of an IP version: a group one of both, a prefix list as many entries as it may have. */
  private weightOf(rules: readonly RuleSpec[], family: 4 | 6): number {
    const weights = rules.map(({ version, source }) => {
      if (version !== null) return version === family ? 1 : 0;
      const list = this.lists.all().find(({ id }) => id === source);
      if (!list) return 1;
      return list.family === family ? list.maxEntries : 0;
    });
    return weights.reduce((sum, weight) => sum + weight, 0);
  }

  /** @throws CloudError when one of them exists */
  private checkIdentity(groupId: string, specs: readonly RuleSpec[]): void {
    for (const spec of specs) {
      if (!this.findSame(groupId, spec)) continue;
      const message = `the specified rule ${describeSpec(spec)} already exists`;
      throw awsError('InvalidPermission.Duplicate', message);
    }
  }

  /** Adds rules that passed `checkAddition`. */
  add(groupId: string, specs: readonly RuleSpec[], tags: readonly Tag[]): SecurityGroupRule[] {
    return specs.map((spec) => {
      const id = `sgr-0${randomBytes(8).toString('hex')}`;
      return this.write({ ...spec, id, groupId, isEgress: false, tags, ordinal: this.nextOrdinal++ });
    });
  }

  remove(rule: SecurityGroupRule): void {
    this.groups.get(rule.groupId)?.delete(rule.id);
  }

  /** Changes a rule in place: it keeps its id. @throws CloudError when another rule has the new identity */
  modify(rule: SecurityGroupRule, spec: RuleSpec): void {
    if (identityOf(rule) !== identityOf(spec)) this.checkIdentity(rule.groupId, [spec]);
    this.write({ ...rule, ...spec });
  }

  private write(rule: SecurityGroupRule): SecurityGroupRule {
    return this.groups.get(rule.groupId)!.set(rule.id, rule);
  }
}

/** A rule in the ledger's form: `-1` becomes `all`, absent ports become null. */
function ledgerRuleOf(rule: SecurityGroupRule): LedgerRule {
  return {
    provider: 'AWS',
    target: rule.groupId,
    address: rule.version === null ? rule.source : bareAddress(rule.source),
    protocol: rule.protocol === '-1' ? 'all' : rule.protocol,
    fromPort: rule.fromPort === -1 ? null : rule.fromPort,
    toPort: rule.toPort === -1 ? null : rule.toPort,
    ours: carriesMark([rule.description, ...rule.tags.flatMap(({ key, value }) => [key, value])]),
    providerRuleId: rule.id,
  };
}
