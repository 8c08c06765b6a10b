import { createHash } from 'node:crypto';
import { canonicalCidr, parseRuleKey, type ObservedRule } from '#rules';
import type { CloudTarget } from '../provider-driver';
import { keyOfCidr } from '../whole-list/plan-rewrite';
import type { CustomRule, FirewallConfig, RuleCondition } from './firewall-config';
import type { GuardedPath } from './vercel.facts';

/** Limit per condition. */
const MAX_VALUES = 75;
/** Limit per condition group. */
const MAX_CONDITIONS = 65;
const EVERY_PATH = '/';

/** The custom rule that denies requests to a guarded path from every address that is not on its list. */
export interface Guard {
  readonly id: string;
  /** the rule is exactly as we write it; false: it was edited, and may allow or deny every address */
  readonly isSound: boolean;
  /** allowed addresses, canonical */
  readonly addresses: readonly string[];
}

/** A condition in a request body. */
interface SentCondition {
  readonly type: string;
  readonly op: string;
  readonly neg?: boolean;
  readonly value: string | readonly string[];
}

/** A custom rule in a request body. */
export interface SentRule {
  readonly name: string;
  readonly description: string;
  readonly active: boolean;
  readonly conditionGroup: readonly { readonly conditions: readonly SentCondition[] }[];
  readonly action: object;
}

/** The maximum number of addresses of a guard. */
export const capacityOf = (path: GuardedPath): number =>
  (MAX_CONDITIONS - scopeConditions(path).length) * MAX_VALUES;

/**
 * The rule that denies every address except these. Address conditions are never empty: without addresses, the rule has
 * no address condition and denies every request to the path.
 */
export function guardRule(path: GuardedPath, deployment: string, addresses: readonly string[]): SentRule {
  const lists: SentCondition[] = [];
  for (let from = 0; from < addresses.length; from += MAX_VALUES) {
    const value = addresses.slice(from, from + MAX_VALUES).map(withoutHostPrefix);
    lists.push({ type: 'ip_address', op: 'inc', neg: true, value });
  }
  const conditions = [...scopeConditions(path), ...lists];
  return {
    name: guardName(path, deployment),
    description: `${guardMark(path, deployment)} keeps out everybody who is not listed. Drawbridge replaces this rule: do not edit it.`,
    active: true,
    conditionGroup: [
      { conditions: conditions.length > 0 ? conditions : [{ type: 'path', op: 'pre', value: EVERY_PATH }] },
    ],
    action: { mitigate: { action: 'deny', actionDuration: null } },
  };
}

/** The guards of a path: one; none before the first write; several after an insert was repeated. */
export const guardsOf = (config: FirewallConfig, path: GuardedPath, deployment: string): Guard[] =>
  config.rules
    .filter((rule) => isGuard(rule, path, deployment))
    .map((rule) => ({ id: rule.id, isSound: isSound(rule, path), addresses: listOf(rule) }));

/** Identifies a guard by its name, or by its mark when the name was edited. */
function isGuard({ name, description }: CustomRule, path: GuardedPath, deployment: string): boolean {
  return name === guardName(path, deployment) || description.startsWith(`${guardMark(path, deployment)} `);
}

/** The addresses on the lists of the guards, whether or not the guards are sound. */
export const listedAddresses = (guards: readonly Guard[]): string[] => [
  ...new Set(guards.flatMap(({ addresses }) => addresses)),
];

/** The addresses on the list according to the database. */
export const claimedAddresses = (claims: CloudTarget['claims']): string[] =>
  [...claims.keys()].map((key) => parseRuleKey(key).address);

/** Whether every guard is sound and allows the address. */
export const allows = (guards: readonly Guard[], address: string): boolean =>
  guards.length > 0 && guards.every((guard) => guard.isSound && guard.addresses.includes(address));

/** @param address canonical */
export const entryId = (guardId: string, address: string): string => `${guardId}#${address}`;

export const entryAddress = (providerRuleId: string): string => providerRuleId.split('#').at(-1) ?? '';

/**
 * Maps the rules that allow requests to a path: the entries of our guard, and unmanaged rules that bypass it. Entries
 * carry no mark, but the guard does and only we write it: every entry is ours, either claimed or an orphan.
 * @param blockOf what else denies an address for certain, as a message
 */
export function observedRules(
  config: FirewallConfig,
  path: GuardedPath,
  { deployment, claims }: Pick<CloudTarget, 'deployment' | 'claims'>,
  blockOf: (address: string) => string | null,
): ObservedRule[] {
  const guards = guardsOf(config, path, deployment);
  const isEdited = guards.some(({ isSound: isAsWritten }) => !isAsWritten);
  const entries = listedAddresses(guards).map((address) => {
    const key = keyOfCidr(address);
    const guardId = guards[0]!.id;
    const isAllowed = allows(guards, address);
    const block = isAllowed ? blockOf(address) : null;
    return {
      key,
      providerRuleId: entryId(guardId, address),
      ownRuleId: claims.get(key) ?? guardId,
      ...(!isAllowed && { inForce: false as const }),
      ...(isEdited && { difference: 'the guard was edited and may let everybody in' }),
      ...(block !== null && { noEffect: block }),
    };
  });
  return [...entries, ...bypasses(config, path, guards)];
}

/** Unmanaged rules before the guard that make Vercel skip it for addresses, without further conditions. */
function bypasses(config: FirewallConfig, path: GuardedPath, guards: readonly Guard[]): ObservedRule[] {
  return bypassRules(config, guards).flatMap(({ id, groups }) =>
    groups
      .flatMap((group) => bypassed(group, path))
      .map((address) => ({ key: keyOfCidr(address), providerRuleId: entryId(id, address), ownRuleId: null })),
  );
}

/** The active rules with the action bypass before the guard. */
export function bypassRules({ rules }: FirewallConfig, guards: readonly Guard[]): CustomRule[] {
  const first = rules.findIndex(({ id }) => guards.some((guard) => guard.id === id));
  const before = first < 0 ? rules : rules.slice(0, first);
  return before.filter(({ isActive, action }) => isActive && action === 'bypass');
}

function bypassed(group: readonly RuleCondition[], path: GuardedPath): string[] {
  const [source, ...more] = group.filter(({ type }) => type === 'ip_address');
  const others = group.filter((condition) => condition !== source);
  const matchesAddresses =
    source && !source.neg && (source.op === 'eq' || source.op === 'inc') && more.length === 0;
  return matchesAddresses && others.every((condition) => isScopeCondition(condition, path))
    ? canonical(source.values)
    : [];
}

function isSound(rule: CustomRule, path: GuardedPath): boolean {
  const [group = [], ...otherGroups] = rule.groups;
  const others = group.filter(({ type }) => type !== 'ip_address');
  const lists = group.filter(({ type }) => type === 'ip_address');
  const scope = scopeConditions(path);
  return (
    rule.isActive &&
    rule.action === 'deny' &&
    otherGroups.length === 0 &&
    group.length > 0 &&
    others.every((condition) => isScopeCondition(condition, path)) &&
    scope.every((expected) => others.some((condition) => isSame(condition, expected))) &&
    lists.every((list) => isList(list) && canonical(list.values).length === list.values?.length)
  );
}

const listOf = ({ groups }: CustomRule): string[] => [
  ...new Set(
    groups.flatMap((group) =>
      group.filter((condition) => isList(condition)).flatMap(({ values }) => canonical(values)),
    ),
  ),
];

/** A "not one of these addresses" condition. We never write an empty one. */
const isList = ({ type, op, neg, values }: RuleCondition): boolean =>
  type === 'ip_address' &&
  ((op === 'inc' && neg) || (op === 'ninc' && !neg)) &&
  values !== null &&
  values.length > 0;

/** The canonical addresses and ranges among values. */
export const canonical = (values: readonly string[] | null): string[] =>
  (values ?? []).flatMap((value) => canonicalCidr(value)?.cidr ?? []);

function scopeConditions({ hostname, pathPrefix }: GuardedPath): SentCondition[] {
  return [
    ...(hostname === null ? [] : [{ type: 'host', op: 'eq', value: hostname }]),
    ...(pathPrefix === null ? [] : [{ type: 'path', op: 'pre', value: pathPrefix }]),
  ];
}

/** A condition on host or path, or one that matches every request. */
const isScopeCondition = (condition: RuleCondition, path: GuardedPath): boolean =>
  [...scopeConditions(path), { type: 'path', op: 'pre', value: EVERY_PATH }].some((expected) =>
    isSame(condition, expected),
  );

const isSame = ({ type, op, neg, values }: RuleCondition, expected: SentCondition): boolean =>
  type === expected.type &&
  op === expected.op &&
  !neg &&
  values?.length === 1 &&
  values[0] === expected.value;

const digestOf = ({ hostname, pathPrefix }: GuardedPath): string =>
  createHash('sha256')
    .update(JSON.stringify([hostname, pathPrefix]))
    .digest('hex')
    .slice(0, 16);

const guardName = (path: GuardedPath, deployment: string): string =>
  `drawbridge-${deployment}-${digestOf(path)}`;

const guardMark = (path: GuardedPath, deployment: string): string =>
  `drawbridge:${deployment}:${digestOf(path)}`;

/** A single address without prefix length, as Vercel's dashboard writes it. */
const withoutHostPrefix = (cidr: string): string => cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');
