import { openToEveryone, type ResourceConfig, type RuleSpec } from '#rules';
import { DEFAULT_PRIORITY } from './gcp.facts';
import { trafficFrom, type FirewallRule, type FirewallTraffic, type TaggedNetwork } from './firewall-mapping';

/** Compute's default for a rule without a source. */
const ANYWHERE = ['0.0.0.0/0'];

/**
 * What the network's rules allow to every instance of the target, without rules that come after one which denies the
 * traffic to everybody. With equal priorities a denial wins.
 */
export function effectiveAllowances(
  rules: readonly FirewallRule[],
  target: TaggedNetwork,
  config: ResourceConfig,
): RuleSpec[] {
  const applying = rules.filter((rule) => appliesToWholeTarget(rule, target));
  const isDeniedBefore = (priority: number): boolean =>
    openToEveryone(
      config,
      applying.flatMap((rule) => (priorityOf(rule) <= priority ? specsOf(rule, rule.denied) : [])),
    ) !== null;
  return applying
    .filter((rule) => !isDeniedBefore(priorityOf(rule)))
    .flatMap((rule) => specsOf(rule, rule.allowed));
}

const priorityOf = ({ priority }: FirewallRule): number => priority ?? DEFAULT_PRIORITY;

/** An inbound rule without any source is one for every source. */
function specsOf(
  { sourceRanges, sourceTags, sourceServiceAccounts }: FirewallRule,
  traffic: readonly FirewallTraffic[] | null | undefined,
): RuleSpec[] {
  const sources = [sourceRanges, sourceTags, sourceServiceAccounts].flatMap((list) => list ?? []);
  return trafficFrom(sources.length === 0 ? ANYWHERE : (sourceRanges ?? []), traffic ?? []);
}

/** Whether an enabled inbound rule applies to every instance of the target, and maybe to others. */
function appliesToWholeTarget(rule: FirewallRule, target: TaggedNetwork): boolean {
  const { network, targetTags, targetServiceAccounts } = target;
  const tags = new Set(rule.targetTags);
  const accounts = new Set(rule.targetServiceAccounts);
  const isForAll = tags.size === 0 && accounts.size === 0;
  return (
    rule.direction === 'INGRESS' &&
    rule.disabled !== true &&
    rule.network?.split('/').at(-1) === network &&
    (rule.destinationRanges ?? []).length === 0 &&
    (isForAll || containsAll(tags, targetTags) || containsAll(accounts, targetServiceAccounts))
  );
}

const containsAll = (all: ReadonlySet<string>, some: readonly string[]): boolean =>
  some.length > 0 && some.every((one) => all.has(one));
