import { canonicalCidr } from './address';
import { sharesTraffic } from './blocked-access';
import { grouped } from './grouped';
import { ruleName } from './observed-rules';
import type { ObservedRule } from './provider';
import { parseRuleKey } from './rule-spec';

/** Rules listed in one text. */
const MAX_NAMED = 3;

/**
 * The ranges that contain an address or a range, itself included.
 * @param cidr canonical
 * @param prefixes the prefix lengths of interest; all by default
 */
export function rangesAround(cidr: string, prefixes?: ReadonlySet<number>): string[] {
  const [network = '', own = ''] = cidr.split('/');
  const lengths = Array.from({ length: Number(own) + 1 }, (_, length) => length);
  return lengths
    .filter((length) => prefixes?.has(length) ?? true)
    .flatMap((length) => canonicalCidr(`${network}/${length}`)?.cidr ?? []);
}

/** The unmanaged rules in force that a read of a target showed. */
export class UnmanagedRules {
  private readonly byRange: Map<string, ObservedRule[]>;
  private readonly prefixes: ReadonlySet<number>;
  private readonly keys: ReadonlySet<string>;

  constructor(observed: readonly ObservedRule[]) {
    const rules = observed.filter(({ ownRuleId, inForce }) => ownRuleId === null && inForce !== false);
    this.byRange = grouped(rules, ({ key }) => parseRuleKey(key).address);
    this.prefixes = new Set([...this.byRange.keys()].map((range) => Number(range.split('/')[1])));
    this.keys = new Set(rules.map(({ key }) => key));
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  /** Names those that let in some of a rule's traffic from its whole range; null: none. @param key `ruleKey` */
  lettingIn(key: string): string | null {
    const spec = parseRuleKey(key);
    const found = rangesAround(spec.address, this.prefixes)
      .flatMap((range) => this.byRange.get(range) ?? [])
      .filter((rule) => sharesTraffic(parseRuleKey(rule.key), spec));
    if (found.length === 0) return null;
    const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : '';
    return found.slice(0, MAX_NAMED).map(ruleName).join(', ') + more;
  }
}
