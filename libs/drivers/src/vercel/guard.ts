import { createHash } from 'node:crypto';
import { canonicalCidr, parseRuleKey, ruleKey, type ObservedRule } from '#rules';
import type { CloudTarget } from '../provider-driver';
import type { CustomRule, FirewallConfig, RuleCondition } from './firewall-config';
import type { GuardedPath } from './vercel.facts';

/** Of one condition. */
const MAX_VALUES = 75;
/** Of one group. */
const MAX_CONDITIONS = 65;
const EVERY_PATH = '/';

/** The one custom rule that keeps everybody out of a place who is not on its list. */
export interface Guard {
  readonly id: string;
  /** it does exactly that; else somebody bent it, and it may let everybody in, or nobody */
  readonly isSound: boolean;
  /** who is let in, canonical */
  readonly addresses: readonly string[];
}

/** A condition the way it is sent. */
interface SentCondition {
  readonly type: string;
  readonly op: string;
  readonly neg?: boolean;
  readonly value: string | readonly string[];
}

/** A custom rule the way it is sent. */
export interface SentRule {
  readonly name: string;
  readonly description: string;
  readonly active: boolean;
  readonly conditionGroup: readonly { readonly conditions: readonly SentCondition[] }[];
  readonly action: object;
}

/** How many addresses fit on the list of a guard. */
export const roomOf = (place: GuardedPath): number =>
  (MAX_CONDITIONS - fixedConditions(place).length) * MAX_VALUES;

/**
 * The rule that keeps everybody out but these addresses. No list is ever empty: without addresses the rule has no
 * condition about them, and denies everything that it is about.
 */
export function guardRule(place: GuardedPath, deployment: string, addresses: readonly string[]): SentRule {
  const lists: SentCondition[] = [];
  for (let from = 0; from < addresses.length; from += MAX_VALUES) {
    const value = addresses.slice(from, from + MAX_VALUES).map(bare);
    lists.push({ type: 'ip_address', op: 'inc', neg: true, value });
  }
  const conditions = [...fixedConditions(place), ...lists];
  return {
    name: guardName(place, deployment),
    description: `${guardMark(place, deployment)} keeps out everybody who is not listed. Drawbridge replaces this rule: do not edit it.`,
    active: true,
    conditionGroup: [
      { conditions: conditions.length > 0 ? conditions : [{ type: 'path', op: 'pre', value: EVERY_PATH }] },
    ],
    action: { mitigate: { action: 'deny', actionDuration: null } },
  };
}

/** The guards of a place: one; none before the first write; several after an insert that landed late. */
export const guardsOf = (config: FirewallConfig, place: GuardedPath, deployment: string): Guard[] =>
  config.rules
    .filter((rule) => isGuard(rule, place, deployment))
    .map((rule) => ({ id: rule.id, isSound: isSound(rule, place), addresses: listOf(rule) }));

/** Where the guard is known by: its name, or the mark when somebody changed that. */
function isGuard({ name, description }: CustomRule, place: GuardedPath, deployment: string): boolean {
  return name === guardName(place, deployment) || description.startsWith(`${guardMark(place, deployment)} `);
}

/** Everybody who is on the list of a guard, whether or not it does what it should. */
export const listedIn = (guards: readonly Guard[]): string[] => [
  ...new Set(guards.flatMap(({ addresses }) => addresses)),
];

/** Everybody who is on the list by our record. */
export const listOfClaims = (claims: CloudTarget['claims']): string[] =>
  [...claims.keys()].map((key) => parseRuleKey(key).address);

/** Whether the guards let an address in, and keep others out: all of them have to. */
export const letsIn = (guards: readonly Guard[], address: string): boolean =>
  guards.length > 0 && guards.every((guard) => guard.isSound && guard.addresses.includes(address));

/** @param address canonical */
export const entryId = (guardId: string, address: string): string => `${guardId}#${address}`;

/** The address that an entry is about. */
export const entryAddress = (providerRuleId: string): string => providerRuleId.split('#').at(-1) ?? '';

/** An address is let in whatever it wants: its rules know no ports. */
const keyOf = (address: string): string => ruleKey({ address, protocol: 'all', ports: [] });

/**
 * What lets somebody into a place: the entries of our guard, and the rules of others that skip it. Entries carry no
 * mark but the guard does, and nobody else writes it: each is ours, by our record or else left behind by us.
 */
export function observedRules(
  config: FirewallConfig,
  place: GuardedPath,
  { deployment, claims }: Pick<CloudTarget, 'deployment' | 'claims'>,
): ObservedRule[] {
  const guards = guardsOf(config, place, deployment);
  const entries = listedIn(guards).map((address) => {
    const key = keyOf(address);
    const guardId = guards[0]!.id;
    return {
      key,
      providerRuleId: entryId(guardId, address),
      ownRuleId: claims.get(key) ?? guardId,
      ...(!letsIn(guards, address) && { inForce: false as const }),
    };
  });
  return [...entries, ...bypasses(config, place, guards)];
}

/** Rules before the guard that make Vercel skip it for some addresses, and about nothing else than the place. */
function bypasses(config: FirewallConfig, place: GuardedPath, guards: readonly Guard[]): ObservedRule[] {
  const first = config.rules.findIndex(({ id }) => guards.some((guard) => guard.id === id));
  const before = first < 0 ? config.rules : config.rules.slice(0, first);
  return before
    .filter(({ isActive, action }) => isActive && action === 'bypass')
    .flatMap(({ id, groups }) =>
      groups
        .flatMap((group) => bypassed(group, place))
        .map((address) => ({ key: keyOf(address), providerRuleId: entryId(id, address), ownRuleId: null })),
    );
}

function bypassed(group: readonly RuleCondition[], place: GuardedPath): string[] {
  const [about, ...more] = group.filter(({ type }) => type === 'ip_address');
  const others = group.filter((condition) => condition !== about);
  const names = about && !about.neg && (about.op === 'eq' || about.op === 'inc') && more.length === 0;
  return names && others.every((condition) => isFixed(condition, place)) ? canonical(about.values) : [];
}

function isSound(rule: CustomRule, place: GuardedPath): boolean {
  const [group = [], ...otherGroups] = rule.groups;
  const others = group.filter(({ type }) => type !== 'ip_address');
  const lists = group.filter(({ type }) => type === 'ip_address');
  const fixed = fixedConditions(place);
  return (
    rule.isActive &&
    rule.action === 'deny' &&
    otherGroups.length === 0 &&
    group.length > 0 &&
    others.every((condition) => isFixed(condition, place)) &&
    fixed.every((desired) => others.some((condition) => isSame(condition, desired))) &&
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

/** "None of these"; an empty one is no list that we write. */
const isList = ({ type, op, neg, values }: RuleCondition): boolean =>
  type === 'ip_address' &&
  ((op === 'inc' && neg) || (op === 'ninc' && !neg)) &&
  values !== null &&
  values.length > 0;

const canonical = (values: readonly string[] | null): string[] =>
  (values ?? []).flatMap((value) => canonicalCidr(value)?.cidr ?? []);

function fixedConditions({ hostname, pathPrefix }: GuardedPath): SentCondition[] {
  return [
    ...(hostname === null ? [] : [{ type: 'host', op: 'eq', value: hostname }]),
    ...(pathPrefix === null ? [] : [{ type: 'path', op: 'pre', value: pathPrefix }]),
  ];
}

/** A condition that says where, or one that holds for every request. */
const isFixed = (condition: RuleCondition, place: GuardedPath): boolean =>
  [...fixedConditions(place), { type: 'path', op: 'pre', value: EVERY_PATH }].some((desired) =>
    isSame(condition, desired),
  );

const isSame = ({ type, op, neg, values }: RuleCondition, desired: SentCondition): boolean =>
  type === desired.type && op === desired.op && !neg && values?.length === 1 && values[0] === desired.value;

const digestOf = ({ hostname, pathPrefix }: GuardedPath): string =>
  createHash('sha256')
    .update(JSON.stringify([hostname, pathPrefix]))
    .digest('hex')
    .slice(0, 16);

const guardName = (place: GuardedPath, deployment: string): string =>
  `drawbridge-${deployment}-${digestOf(place)}`;

const guardMark = (place: GuardedPath, deployment: string): string =>
  `drawbridge:${deployment}:${digestOf(place)}`;

/** A single address without its prefix length, as Vercel's own pages write it. */
const bare = (cidr: string): string => cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');
