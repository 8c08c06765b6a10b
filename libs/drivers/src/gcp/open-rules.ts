import { blocksOf, type AccessRule, type OrderedRule, type RuleSpec } from '#rules';
import { DEFAULT_PRIORITY } from './gcp.facts';
import { trafficFrom, type FirewallRule, type FirewallTraffic, type TaggedNetwork } from './firewall-mapping';

/** Compute's default for a rule without a source. */
const ANYWHERE = ['0.0.0.0/0'];

type IsForPart = (rule: FirewallRule) => boolean;

/**
 * What the network's rules allow and deny, in the order in which Compute evaluates them: for each of the target's tags or
 * service accounts, or once for every instance of the network. Sessions still restrict something where a rule lets
 * everybody in to some instances of such a part: it does not count, and neither does a denial for some.
 */
export function accessRules(rules: readonly FirewallRule[], target: TaggedNetwork): OrderedRule[][] {
  const inbound = rules.filter((rule) => isInForce(rule, target)).toSorted(byPriority);
  return partsOf(target).map((isForPart) =>
    inbound
      .filter(isForPart)
      .flatMap((rule) =>
        [
          ...specsOf(rule, rule.denied).map((spec) => ({ ...spec, isDenial: true })),
          ...specsOf(rule, rule.allowed),
        ].map((spec) => ({ ...spec, name: rule.name ?? '', priority: priorityOf(rule) })),
      ),
  );
}

/**
 * Finds what blocks traffic that a rule of the target would let in, on every part of the target. Of rules with one priority,
 * the denials come first.
 */
export function networkBlocks(
  rules: readonly FirewallRule[],
  target: TaggedNetwork,
): (spec: RuleSpec) => string | null {
  const parts = accessRules(rules, target).map(blocksOf);
  const isBefore = ({ priority, isDenial }: OrderedRule): boolean =>
    priority < target.priority || (priority === target.priority && isDenial === true);
  return (spec) => {
    const blocks = parts.map((blockOf) => blockOf(spec, isBefore));
    return blocks.includes(null) ? null : (blocks[0] ?? null);
  };
}

/** With equal priorities a denial comes first. */
const byPriority = (one: FirewallRule, other: FirewallRule): number =>
  priorityOf(one) - priorityOf(other) || Number(isDenial(other)) - Number(isDenial(one));

const priorityOf = ({ priority }: FirewallRule): number => priority ?? DEFAULT_PRIORITY;

const isDenial = ({ denied }: FirewallRule): boolean => (denied ?? []).length > 0;

function partsOf({ targetTags, targetServiceAccounts }: TaggedNetwork): IsForPart[] {
  const parts = [
    ...targetTags.map(
      (tag): IsForPart =>
        (rule) =>
          rule.targetTags?.includes(tag) === true,
    ),
    ...targetServiceAccounts.map(
      (account): IsForPart =>
        (rule) =>
          rule.targetServiceAccounts?.includes(account) === true,
    ),
  ];
  if (parts.length === 0) return [isForAll];
  return parts.map((isForPart) => (rule) => isForAll(rule) || isForPart(rule));
}

const isForAll = ({ targetTags, targetServiceAccounts }: FirewallRule): boolean =>
  (targetTags ?? []).length + (targetServiceAccounts ?? []).length === 0;

/** An inbound rule without any source is one for every source. */
function specsOf(rule: FirewallRule, traffic: readonly FirewallTraffic[] | null | undefined): AccessRule[] {
  const { sourceRanges, sourceTags, sourceServiceAccounts } = rule;
  const sources = [sourceRanges, sourceTags, sourceServiceAccounts].flatMap((list) => list ?? []);
  return trafficFrom(sources.length === 0 ? ANYWHERE : (sourceRanges ?? []), traffic ?? []).filter(
    ({ address }) => isForEveryDestination(rule, address),
  );
}

/** @param source of the IP version that is meant */
function isForEveryDestination({ destinationRanges }: FirewallRule, source: string): boolean {
  const ranges = destinationRanges ?? [];
  return ranges.length === 0 || ranges.includes(source.includes(':') ? '::/0' : '0.0.0.0/0');
}

const isInForce = ({ direction, disabled, network }: FirewallRule, target: TaggedNetwork): boolean =>
  direction === 'INGRESS' && disabled !== true && network?.split('/').at(-1) === target.network;
