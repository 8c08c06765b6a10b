import { boundsOf, rangesBetween, type ObservedRule } from '#rules';
import type { writtenKeys } from '../../written-keys';
import { keyOfCidr } from '../../whole-list/plan-rewrite';
import { unexpectedResponse } from '../azure-errors';
import type { Json } from './arm-json';
import type { RuleCollection } from './tables';

/** A rule of a service's firewall: all addresses from the first to the last. */
export interface ChildRule {
  readonly collection: RuleCollection;
  readonly name: string;
  readonly first: string;
  readonly last: string;
  readonly cidrs: readonly string[];
}

/** No traffic has them: of documentation, and of the prefix whose traffic is discarded. A rule that may not be deleted gets one. */
const UNUSED: Readonly<Record<4 | 6, string>> = { 4: '192.0.2.1', 6: '100::1' };
/** As first and last address: a switch for all of Azure, subscriptions of other customers included. */
const ALL_OF_AZURE = '0.0.0.0';
const SECOND = 'ipv6FirewallRules/';

/** @throws CallFailure when it is none */
export function readChildRule(collection: RuleCollection, { name, properties }: Json): ChildRule {
  const given = typeof properties === 'object' && properties !== null ? (properties as Json) : {};
  const [first, last] = [given[collection.first], given[collection.last]];
  const isText = typeof name === 'string' && typeof first === 'string' && typeof last === 'string';
  const cidrs = isText ? rangesBetween({ first, last }) : null;
  if (!isText || !cidrs) throw unexpectedResponse('the list of rules');
  return { collection, name, first, last, cidrs };
}

/** Names of ours are marks: one name has one address for ever. At most 76 characters of a-z, 0-9 and `-`. */
export const ownName = (deployment: string, ruleId: string): string =>
  `drawbridge-${deployment}-${ruleId.replaceAll('-', '')}`;

/** The id of the rule that a name marks. @returns null when it is not of this deployment */
export function ownRuleId(deployment: string, name: string): string | null {
  const start = ownName(deployment, '');
  const given = name.toLowerCase();
  const [, hex] = given.startsWith(start) ? (/^([0-9a-f]{32})$/.exec(given.slice(start.length)) ?? []) : [];
  return hex ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : null;
}

/** Names are unique within a collection only. */
export const idOf = ({ collection, name }: Pick<ChildRule, 'collection' | 'name'>): string =>
  collection.version === 6 ? `${SECOND}${name}` : name;

export const parseId = (id: string): { version: 4 | 6; name: string } =>
  id.startsWith(SECOND) ? { version: 6, name: id.slice(SECOND.length) } : { version: 4, name: id };

const bodyOf = ({ first, last }: RuleCollection, from: string, to: string): Json => ({
  properties: { [first]: from, [last]: to },
});

export function bodyFor(collection: RuleCollection, cidr: string): Json {
  const { first, last } = boundsOf(cidr);
  return bodyOf(collection, first, last);
}

export const neutralBody = (collection: RuleCollection): Json =>
  bodyOf(collection, UNUSED[collection.version], UNUSED[collection.version]);

/** Whether it is what a removal left of a rule of ours, under a lock. */
export const isNeutral = ({ collection, name, first, last }: ChildRule, deployment: string): boolean =>
  ownRuleId(deployment, name) !== null && first === UNUSED[collection.version] && last === first;

export const letsInAzure = ({ first, last }: Pick<ChildRule, 'first' | 'last'>): boolean =>
  first === ALL_OF_AZURE && last === ALL_OF_AZURE;

/** @param keyOf the key that a rule was written with */
export function observedChildRules(
  rules: readonly ChildRule[],
  deployment: string,
  keyOf: ReturnType<typeof writtenKeys>,
): ObservedRule[] {
  return rules.flatMap((rule): ObservedRule[] => {
    const own = ownRuleId(deployment, rule.name);
    const id = idOf(rule);
    if (isNeutral(rule, deployment)) return [];
    if (letsInAzure(rule)) {
      const key = own === null ? undefined : keyOf(id, own);
      const difference = 'it lets in all of Azure';
      return key === undefined ? [] : [{ key, providerRuleId: id, ownRuleId: own, difference }];
    }
    return rule.cidrs.map((cidr) => ({
      key: keyOfCidr(cidr),
      providerRuleId: own !== null || rule.cidrs.length === 1 ? id : `${id}#${cidr}`,
      ownRuleId: own,
    }));
  });
}
