import { visible } from './hidden-characters';
import { EVERY_PORT, matchingRules, piecesOf, portRules, PROTOCOLS_OF, type AccessRule } from './open-access';
import type { PortRange, RuleSpec } from './rule-spec';
import { spanOf, type AddressSpan } from './special-ranges';

/** A rule of a target with its place in the order of evaluation: a smaller priority comes first. */
export interface OrderedRule extends AccessRule {
  readonly name: string;
  readonly priority: number;
}

type SpannedRule = OrderedRule & { readonly span: AddressSpan };

/** @returns the message `blocked by <name>` when nothing of the traffic gets past the rules before it, else null */
type BlockOf = (spec: RuleSpec, isBefore: (rule: OrderedRule) => boolean) => string | null;

/**
 * Finds the denials that keep out all that a rule would let in. Something gets through where a rule before the denial lets
 * it in, or where a part of its addresses, ports or protocols is not denied.
 * @param rules of the target, in the order of evaluation; addresses are canonical CIDRs
 */
export function blocksOf(rules: readonly OrderedRule[]): BlockOf {
  if (!rules.some(({ isDenial }) => isDenial)) return () => null;
  const spanned = rules.map((rule) => ({ ...rule, span: spanOf(rule.address) }));
  const denials = spanned.filter(({ isDenial }) => isDenial);
  return (spec, isBefore) => {
    const span = spanOf(spec.address);
    const isNear = (rule: SpannedRule): boolean => isBefore(rule) && spansOverlap(rule.span, span);
    if (!denials.some(isNear)) return null;
    const near = spanned.filter(isNear);
    const ranges: readonly PortRange[] = spec.ports.length === 0 ? [EVERY_PORT] : spec.ports;
    const names = PROTOCOLS_OF[spec.protocol].flatMap((protocol) => {
      const matching = matchingRules(near, protocol);
      return ranges.flatMap((range) =>
        piecesOf(range, matching).map((port) => denialOf(span, portRules(matching, port))),
      );
    });
    return names.every((name) => name !== null) ? `blocked by ${names[0]}` : null;
  };
}

const MAX_NAMED = 10;

/** The warning of a verification that rules with these names may come before those of sessions; none without names. */
export function overrideWarnings(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return [`Addresses of sessions may be blocked by ${visible(names.slice(0, MAX_NAMED).join(', '))}${more}`];
}

/** The denial after which nothing is left of the addresses; null: something gets through. */
function denialOf(span: AddressSpan, rules: readonly SpannedRule[]): string | null {
  let left = [span];
  for (const { isDenial, span: of, name } of rules) {
    if (!isDenial && left.some((part) => spansOverlap(part, of))) return null;
    if (isDenial) left = left.flatMap((part) => without(part, of));
    if (left.length === 0) return name;
  }
  return null;
}

/** Whether two rules have a protocol and a port in common. */
export const sharesTraffic = (one: Omit<RuleSpec, 'address'>, other: Omit<RuleSpec, 'address'>): boolean =>
  (one.protocol === other.protocol || one.protocol === 'all' || other.protocol === 'all') &&
  (one.ports.length === 0 ||
    other.ports.length === 0 ||
    one.ports.some((a) => other.ports.some((b) => a.from <= b.to && b.from <= a.to)));

export const spansOverlap = (one: AddressSpan, other: AddressSpan): boolean =>
  one.version === other.version && one.first <= other.last && other.first <= one.last;

const without = (span: AddressSpan, taken: AddressSpan): AddressSpan[] =>
  spansOverlap(span, taken)
    ? [
        { ...span, last: taken.first - 1n },
        { ...span, first: taken.last + 1n },
      ].filter(({ first, last }) => first <= last)
    : [span];
