import type { FirewallConfig, RuleCondition } from './firewall-config';
import { bypassRules, canonical, guardsOf } from './guard';
import type { GuardedPath } from './vercel.facts';

const EVERY_PATH = '/';
const EVERYBODY = ['0.0.0.0/0', '::/0'];

/**
 * The addresses for which unmanaged rules make Vercel skip the guard for every request to the path. A rule for all except
 * some addresses counts as one for every address, as a denial of some addresses before it would.
 */
export const bypassedAddresses = (config: FirewallConfig, path: GuardedPath, deployment: string): string[] =>
  bypassRules(config, guardsOf(config, path, deployment)).flatMap(({ groups }) =>
    groups.flatMap((group) => bypassedBy(group, path)),
  );

function bypassedBy(group: readonly RuleCondition[], path: GuardedPath): string[] {
  const sources = group.filter(({ type }) => type === 'ip_address');
  const others = group.filter(({ type }) => type !== 'ip_address');
  if (group.length === 0 || !others.every((condition) => isMetByAll(condition, path))) return [];
  const listed = sources.filter((source) => !isExclusion(source));
  if (listed.length > 0) return listed.length === sources.length ? addressesOf(listed) : [];
  return EVERYBODY;
}

/** Of one list; addresses on several lists at once are not determined. */
function addressesOf([list, ...more]: readonly RuleCondition[]): string[] {
  const isList = list && !list.neg && (list.op === 'eq' || list.op === 'inc');
  return isList && more.length === 0 ? canonical(list.values) : [];
}

export const isExclusion = ({ op, neg }: RuleCondition): boolean =>
  neg ? op === 'eq' || op === 'inc' : op === 'neq' || op === 'ninc';

/** Whether every request to the path meets a condition that is not about its address. */
export function isMetByAll(
  { type, op, neg, values }: RuleCondition,
  { hostname, pathPrefix }: GuardedPath,
): boolean {
  // Vercel compares case-insensitively
  const given = (values ?? []).map((value) => value.toLowerCase());
  if (neg) return false;
  if (type === 'host')
    return (op === 'eq' || op === 'inc') && hostname !== null && given.includes(hostname.toLowerCase());
  const prefix = (pathPrefix ?? EVERY_PATH).toLowerCase();
  return type === 'path' && op === 'pre' && given.some((value) => prefix.startsWith(value));
}
