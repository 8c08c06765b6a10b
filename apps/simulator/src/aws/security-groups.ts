import { randomBytes } from 'node:crypto';
import { carriesMark, type Opening } from '../ground-truth/ledger';
import type { World } from '../provider';
import { AwsError, groupNotFound, ruleLimitExceeded } from './aws-error';
import { bareAddress } from '../cidr';
import { describeSpec, identityOf, refuseRepeats, type RuleSpec } from './permissions';
import type { Tag } from './tags';

export interface SecurityGroupRule extends RuleSpec {
  readonly id: string;
  readonly groupId: string;
  readonly isEgress: boolean;
  readonly tags: readonly Tag[];
  /** order of creation, for pages that stay put while rules come and go */
  readonly ordinal: number;
  /** microseconds since 1970 */
  readonly openedAt: number;
  readonly closedAt: number | null;
}

/** A group's id: they are counted up in hexadecimal. @param index 0 for the first group */
export const groupIdOf = (index: number): string =>
  `sg-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

/** How long a removed rule can still show up in a stale read. */
const HISTORY_US = 600_000_000;
const ANYWHERE = { protocol: '-1', fromPort: -1, toPort: -1, version: 4, cidr: '0.0.0.0/0' } as const;

/** Some security groups, the same ones in every region, with their rules and the rules they had a while ago. */
export class SecurityGroups {
  readonly ids: readonly string[];
  private groups = new Map<string, Map<string, SecurityGroupRule>>();
  private removed: SecurityGroupRule[] = [];
  private nextOrdinal = 1;

  /**
   * @param rulesPerGroup inbound rules a group may have for IPv4, and as many again for IPv6
   * @param count how many groups there are
   */
  constructor(
    private readonly world: World,
    private readonly rulesPerGroup: number,
    count: number,
  ) {
    this.ids = Array.from({ length: count }, (_, index) => groupIdOf(index));
    this.reset();
  }

  /** Empty groups: one outbound rule each, as AWS makes them. */
  reset(): void {
    this.removed = [];
    this.groups = new Map(this.ids.map((groupId) => [groupId, new Map<string, SecurityGroupRule>()]));
    for (const groupId of this.ids) {
      const id = `sgr-${groupId.slice(3).split('').toReversed().join('')}`;
      const rule = { ...ANYWHERE, description: undefined, id, groupId, isEgress: true, tags: [] };
      this.store({ ...rule, ordinal: this.nextOrdinal++, openedAt: 0, closedAt: null });
    }
  }

  /** Opens rules of an earlier run again, with the ids they had, in the groups there still are. */
  recall(rules: readonly SecurityGroupRule[]): void {
    for (const rule of rules.filter(({ groupId }) => this.groups.has(groupId))) {
      const openedAt = this.world.ledger.open(openingOf(rule));
      this.store({ ...rule, ordinal: this.nextOrdinal++, openedAt });
    }
  }

  /** @throws AwsError when the text is no group id, or the group is unknown */
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
   * @param asOf microseconds since 1970; as they were then, up to ten minutes back
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

  /** @throws AwsError when one of them repeats, exists, or is too many: then none can be added */
  checkAddition(groupId: string, specs: readonly RuleSpec[]): void {
    refuseRepeats(specs);
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
      const words = `the specified rule ${describeSpec(spec)} already exists`;
      throw new AwsError('InvalidPermission.Duplicate', words);
    }
  }

  /** Opens rules that `checkAddition` let pass. */
  add(groupId: string, specs: readonly RuleSpec[], tags: readonly Tag[]): SecurityGroupRule[] {
    return specs.map((spec) => {
      const id = `sgr-0${randomBytes(8).toString('hex')}`;
      const draft = { ...spec, id, groupId, isEgress: false, tags, ordinal: this.nextOrdinal++ };
      const openedAt = this.world.ledger.open(openingOf(draft));
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

  describe(rule: SecurityGroupRule, description: string | undefined): void {
    const changed = this.store({ ...rule, description });
    const opening = openingOf(changed);
    this.world.ledger.relabel(opening, opening.ours);
  }

  /** Makes another rule of it that keeps the id: what it let in is closed, what it lets in now is opened. */
  modify(rule: SecurityGroupRule, spec: RuleSpec): void {
    if (identityOf(rule) === identityOf(spec)) {
      this.describe(rule, spec.description);
      return;
    }
    this.checkIdentity(rule.groupId, [spec]);
    this.remove(rule);
    const changed = { ...rule, ...spec };
    this.store({ ...changed, openedAt: this.world.ledger.open(openingOf(changed)) });
  }

  private store(rule: SecurityGroupRule): SecurityGroupRule {
    this.groups.get(rule.groupId)?.set(rule.id, rule);
    return rule;
  }
}

/** A rule the way the ground truth tells it: `-1` is `all`, and ports it does not have are null. */
function openingOf(rule: Omit<SecurityGroupRule, 'openedAt' | 'closedAt'>): Opening {
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
