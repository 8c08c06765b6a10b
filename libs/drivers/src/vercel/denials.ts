import { spansOverlap, spanOf, visible, type AddressSpan } from '#rules';
import type { CustomRule, FirewallConfig, RuleCondition } from './firewall-config';
import { canonical, type Guard } from './guard';
import { isExclusion, isMetByAll } from './open-bypasses';
import type { GuardedPath } from './vercel.facts';

type IsMatch = (span: AddressSpan) => boolean;

/**
 * Vercel applies IP rules before custom rules. A custom rule denies what the guard lets through wherever it is, unless a
 * bypass rule before it makes Vercel skip it.
 * @returns `blockOf`: the message `blocked by <rule>` when every request of the address is denied for certain, else null;
 *   `doubtful`: names of rules that may deny requests of any address
 */
export function denialsOf(
  { ipRules, rules: customRules }: FirewallConfig,
  path: GuardedPath,
  guards: readonly Guard[],
): { blockOf: (address: string) => string | null; doubtful: string[] } {
  const isOwn = ({ id }: CustomRule): boolean => guards.some((guard) => guard.id === id);
  const rules = [...ipRules, ...customRules].filter((rule) => rule.isActive && !isOwn(rule));
  const bypass = rules.findIndex(({ action }) => action === 'bypass');
  const denials = rules.flatMap((rule, index) => {
    const groups = rule.groups.filter((group) => group.every((condition) => mayBeMet(condition, path)));
    if (groups.length === 0 || (rule.action !== 'deny' && rule.action !== null)) return [];
    const isJudged = rule.action === 'deny' && !isGuard(rule) && (bypass < 0 || index < bypass);
    return [
      {
        name: rule.name || rule.id,
        matches: groups.map((group) => (isJudged ? matchOf(group, path) : null)),
      },
    ];
  });
  return {
    blockOf: (address) => {
      const span = spanOf(address);
      const block = denials.find(({ matches }) => matches.some((isMatch) => isMatch?.(span)));
      return block ? `blocked by ${visible(block.name)}` : null;
    },
    doubtful: denials.filter(({ matches }) => matches.includes(null)).map(({ name }) => name),
  };
}

/** A guard of any target and deployment: an address gets onto their lists one after the other. */
const isGuard = ({ name, description }: CustomRule): boolean =>
  name.startsWith('drawbridge-') || description.startsWith('drawbridge:');

/** @returns null when the group depends on more than the address, or not on a list of them */
function matchOf(group: readonly RuleCondition[], path: GuardedPath): IsMatch | null {
  const others = group.filter(({ type }) => type !== 'ip_address');
  if (group.length === 0 || !others.every((condition) => isMetByAll(condition, path))) return null;
  const sources = group.filter(({ type }) => type === 'ip_address').map(listMatchOf);
  return sources.includes(null) ? null : (span) => sources.every((isMatch) => isMatch?.(span));
}

function listMatchOf(source: RuleCondition): IsMatch | null {
  const spans = canonical(source.values).map(spanOf);
  const isComplete = spans.length > 0 && spans.length === source.values?.length;
  if (isExclusion(source)) return isComplete ? (span) => !spans.some((one) => spansOverlap(one, span)) : null;
  if (source.neg || (source.op !== 'eq' && source.op !== 'inc')) return null;
  return ({ version, first, last }) =>
    spans.some((one) => one.version === version && one.first <= first && last <= one.last);
}

/** Whether some request to the path may meet a condition. */
function mayBeMet({ type, op, neg, values }: RuleCondition, { hostname, pathPrefix }: GuardedPath): boolean {
  if (neg || !['host', 'path'].includes(type) || !['eq', 'inc', 'pre'].includes(op)) return true;
  const guarded = ((type === 'host' ? hostname : pathPrefix) ?? '').toLowerCase();
  const given = (values ?? []).map((value) => value.toLowerCase());
  return given.some((value) => value.startsWith(guarded) || (op === 'pre' && guarded.startsWith(value)));
}
