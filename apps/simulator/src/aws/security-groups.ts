import { randomBytes } from 'node:crypto';
import { carriesMark, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import { AwsError, groupNotFound, ruleLimitExceeded } from './aws-error';
import { bareAddress } from '../cidr';
import { describeSpec, identityOf, checkDuplicates, type RuleSpec } from './permissions';
import type { Tag } from './tags';

export interface SecurityGroupRule extends RuleSpec {
  readonly id: string;
  readonly groupId: string;
  readonly isEgress: boolean;
  readonly tags: readonly Tag[];
  /** order of creation, for stable paging while rules are added and removed */
  readonly ordinal: number;
  /** microseconds since 1970 */
  readonly openedAt: number;
  readonly closedAt: number | null;
}

/** A group's id; ids count up in hexadecimal. @param index 0 for the first group */
const groupIdOf = (index: number): string =>
  `sg-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

/** How long removed rules are kept for stale reads. */
const HISTORY_US = 600_000_000;
const ANYWHERE = { protocol: '-1', fromPort: -1, toPort: -1, version: 4, cidr: '0.0.0.0/0' } as const;

/** Security groups, the same in every region, with their rules and recently removed rules. */
export class SecurityGroups {
  readonly ids: readonly string[];
  private groups = new Map<string, Map<string, SecurityGroupRule>>();
  private removed: SecurityGroupRule[] = [];
  private nextOrdinal = 1;

  /**
   * @param rulesPerGroup inbound rules a group may have for IPv4, and as many again for IPv6
   * @param count number of groups
   */
  constructor(
    private readonly world: World,
    private readonly rulesPerGroup: number,
    count: number,
  ) {
    this.ids = Array.from({ length: count }, (_, index) => groupIdOf(index));
    this.reset();
  }

  /** Empties the groups, except for the one outbound rule that AWS creates in each. */
  reset(): void {
    this.removed = [];
    this.groups = new Map(this.ids.map((groupId) => [groupId, new Map<string, SecurityGroupRule>()]));
    for (const groupId of this.ids) {
      const id = `sgr-${groupId.slice(3).split('').toReversed().join('')}`;
      const rule = { ...ANYWHERE, description: undefined, id, groupId, isEgress: true, tags: [] };
      this.store({ ...rule, ordinal: this.nextOrdinal++, openedAt: 0, closedAt: null });
    }
  }

  /** Restores rules of an earlier run with their ids, in the groups that still exist. */
  restore(rules: readonly SecurityGroupRule[]): void {
    for (const rule of rules.filter(({ groupId }) => this.groups.has(groupId))) {
      const openedAt = this.world.ledger.open(ledgerRuleOf(rule));
      this.store({ ...rule, ordinal: this.nextOrdinal++, openedAt });
    }
  }

  /** @throws AwsError when the id is malformed or unknown */
  check(groupId: string): void {
    if (!groupId.startsWith('sg-')) {
      throw new AwsError('InvalidGroupId.Malformed', `Invalid id: "${groupId}" (expecting "sg-...")`);
    }
    if (!/^sg-([0-9a-f]{8}|[0-9a-f]{17})$/.test(groupId)) {
      throw new AwsError('InvalidGroupId.Malformed', `The security-group ID '${groupId}' is malformed`);
    }
    if (!this.groups.has(groupId)) throw groupNotFound(groupId);
  }

  /**
   * Rules in order of creation.
   * @param asOf microseconds since 1970: the state at that time, up to ten minutes back
   */
  rules(groupId?: string, asOf?: number): SecurityGroupRule[] {
    const groups =
      groupId === undefined
        ? [...this.groups.values()]
        : [this.groups.get(groupId) ?? new Map<string, SecurityGroupRule>()];
    const present = groups.flatMap((rules): SecurityGroupRule[] => [...rules.values()]);
    if (asOf === undefined) return present.sort((a, b) => a.ordinal - b.ordinal);
    const gone = this.removed.filter((rule) => groupId === undefined || rule.groupId === groupId);
    return [...present, ...gone]
      .filter((rule) => rule.openedAt <= asOf && (rule.closedAt === null || rule.closedAt > asOf))
      .sort((a, b) => a.ordinal - b.ordinal);
  }

  find(ruleId: string): SecurityGroupRule | undefined {
    return [...this.groups.values()].map((rules) => rules.get(ruleId)).find((rule) => rule !== undefined);
  }

  /** The inbound rule with this identity. */
  findSame(groupId: string, spec: RuleSpec): SecurityGroupRule | undefined {
    const identity = identityOf(spec);
    return this.rules(groupId).find((rule) => !rule.isEgress && identityOf(rule) === identity);
  }

  /** @throws AwsError when one of them is a duplicate, exists, or exceeds the limit: then none can be added */
  checkAddition(groupId: string, specs: readonly RuleSpec[]): void {
    checkDuplicates(specs);
    this.checkIdentity(groupId, specs);
    const inbound = this.rules(groupId).filter((rule) => !rule.isEgress);
    for (const version of [4, 6]) {
      const desired = specs.filter((spec) => spec.version === version).length;
      const present = inbound.filter((rule) => rule.version === version).length;
      if (desired > 0 && present + desired > this.rulesPerGroup) throw ruleLimitExceeded();
    }
  }

  /** @throws AwsError when one of them exists */
  private checkIdentity(groupId: string, specs: readonly RuleSpec[]): void {
    for (const spec of specs) {
      if (!this.findSame(groupId, spec)) continue;
      const message = `the specified rule ${describeSpec(spec)} already exists`;
      throw new AwsError('InvalidPermission.Duplicate', message);
    }
  }

  /** Adds rules that passed `checkAddition`. */
  add(groupId: string, specs: readonly RuleSpec[], tags: readonly Tag[]): SecurityGroupRule[] {
    return specs.map((spec) => {
      const id = `sgr-0${randomBytes(8).toString('hex')}`;
      const draft = { ...spec, id, groupId, isEgress: false, tags, ordinal: this.nextOrdinal++ };
      const openedAt = this.world.ledger.open(ledgerRuleOf(draft));
      return this.store({ ...draft, openedAt, closedAt: null });
    });
  }

  remove(rule: SecurityGroupRule): void {
    const closedAt = this.world.ledger.close({
      provider: 'AWS',
      target: rule.groupId,
      providerRuleId: rule.id,
    });
    this.groups.get(rule.groupId)?.delete(rule.id);
    this.removed.push({ ...rule, closedAt });
    while ((this.removed[0]?.closedAt ?? closedAt) < closedAt - HISTORY_US) this.removed.shift();
  }

  private describe(rule: SecurityGroupRule, description: string | undefined): void {
    const changed = this.store({ ...rule, description });
    const ledgerRule = ledgerRuleOf(changed);
    this.world.ledger.relabel(ledgerRule, ledgerRule.ours);
  }

  /** Changes a rule in place: it keeps its id, and the ledger records it as closed and opened. */
  modify(rule: SecurityGroupRule, spec: RuleSpec): void {
    if (identityOf(rule) === identityOf(spec)) {
      this.describe(rule, spec.description);
      return;
    }
    this.checkIdentity(rule.groupId, [spec]);
    this.remove(rule);
    const changed = { ...rule, ...spec };
    this.store({ ...changed, openedAt: this.world.ledger.open(ledgerRuleOf(changed)) });
  }

  private store(rule: SecurityGroupRule): SecurityGroupRule {
    this.groups.get(rule.groupId)?.set(rule.id, rule);
    return rule;
  }
}

/** A rule in the ledger's form: `-1` becomes `all`, absent ports become null. */
function ledgerRuleOf(rule: Omit<SecurityGroupRule, 'openedAt' | 'closedAt'>): LedgerRule {
  return {
    provider: 'AWS',
    target: rule.groupId,
    address: bareAddress(rule.cidr),
    protocol: rule.protocol === '-1' ? 'all' : rule.protocol,
    fromPort: rule.fromPort === -1 ? null : rule.fromPort,
    toPort: rule.toPort === -1 ? null : rule.toPort,
    ours: carriesMark([rule.description, ...rule.tags.flatMap(({ key, value }) => [key, value])]),
    providerRuleId: rule.id,
  };
}
