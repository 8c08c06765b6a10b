import {
  EVERY_PORT,
  matchingRules,
  piecesOf,
  portRules,
  PROTOCOLS_OF,
  ruleSpecs,
  type ResourceConfig,
  type RuleSpec,
} from '#rules';
import { DriverError } from '../driver-error';
import type { FirewallPolicy, PolicyRule } from './compute-messages';
import { trafficFrom, type TaggedNetwork } from './firewall-mapping';
import type { VpcNetwork } from './vpc-network';

const EVERYBODY = ['0.0.0.0/0', '::/0'] as const;

/**
 * What firewall policies decide before the network's own rules, for the administrator. It never fails a verification: a
 * policy may be meant to, and the answer needs a permission that earlier roles lack.
 * @param policiesFirst policies of the network itself come before its rules too
 * @param hasRules the network has firewall rules
 */
export async function policyWarnings(
  network: VpcNetwork,
  config: ResourceConfig,
  { policiesFirst, hasRules }: { readonly policiesFirst: boolean; readonly hasRules: boolean },
): Promise<string[]> {
  try {
    const policies = await network.firewallPolicies(hasRules);
    return policies
      .filter(({ type }) => type !== 'NETWORK' || policiesFirst)
      .flatMap((policy) => verdicts(policy, network.target, config));
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    const reason = error.kind === 'denied' ? 'grant compute.networks.getEffectiveFirewalls' : error.message;
    return [`The firewall policies of ${network.target.network} were not looked at: ${reason}`];
  }
}

/** One warning for each kind of verdict, of either IP version. */
function verdicts(policy: FirewallPolicy, target: TaggedNetwork, config: ResourceConfig): string[] {
  const name = policy.displayName || policy.shortName || policy.name || 'without a name';
  const rules = policy.rules
    .filter((rule) => rule.direction === 'INGRESS' && rule.disabled !== true && concerns(rule, target))
    .toSorted((one, other) => (one.priority ?? 0) - (other.priority ?? 0));
  const found = EVERYBODY.flatMap((everybody) => {
    const deciding = decidingRule(rules, everybody, config);
    if (!deciding) return [];
    const verdict =
      deciding.action === 'deny'
        ? 'denies traffic that this resource lets in: sessions may not reach it'
        : `lets everybody (${everybody}) in to traffic of this resource: sessions may restrict nothing`;
    return [
      `Before the rules of ${target.network}, the firewall policy ${name} (rule ${deciding.priority}) ${verdict}`,
    ];
  });
  return [...new Set(found)];
}

/** The first denial of some of the traffic, or the rule before it that lets all of it in; null: the next level decides. */
function decidingRule(
  rules: readonly PolicyRule[],
  everybody: (typeof EVERYBODY)[number],
  config: ResourceConfig,
): PolicyRule | null {
  const wanted = ruleSpecs(everybody, config, 'many')[0]!;
  for (const rule of rules) {
    const { srcIpRanges = [], destIpRanges = [], layer4Configs = [] } = rule.match ?? {};
    const isOfVersion = srcIpRanges.some((range) => range.includes(':') === everybody.includes(':'));
    const traffic = layer4Configs.map(({ ipProtocol = '', ports }) => ({ IPProtocol: ipProtocol, ports }));
    const parts = partsIn(trafficFrom([everybody], traffic), wanted);
    // sources of other kinds than ranges may be of any version
    const matches = (isOfVersion || srcIpRanges.length === 0) && parts.includes(true);
    if (matches && rule.action === 'deny') return rule;
    const isForAll =
      srcIpRanges.includes(everybody) &&
      destIpRanges.length + rule.targetServiceAccounts.length + rule.targetSecureTags.length === 0 &&
      !parts.includes(false);
    if (isForAll && rule.action === 'allow') return rule;
    if (isForAll && rule.action === 'goto_next') return null;
  }
  return null;
}

/** Whether a rule is for some instances of the target. */
function concerns({ targetResources, targetServiceAccounts }: PolicyRule, target: TaggedNetwork): boolean {
  const { project, network, targetServiceAccounts: accounts } = target;
  const isOfNetwork = (url: string): boolean =>
    url.endsWith(`projects/${project}/global/networks/${network}`);
  return (
    (targetResources.length === 0 || targetResources.some(isOfNetwork)) &&
    (targetServiceAccounts.length === 0 ||
      accounts.length === 0 ||
      accounts.some((account) => targetServiceAccounts.includes(account)))
  );
}

/** For each part of a resource's traffic whether a rule's traffic contains it. */
function partsIn(traffic: readonly RuleSpec[], wanted: RuleSpec): boolean[] {
  const ranges = wanted.ports.length === 0 ? [EVERY_PORT] : wanted.ports;
  return PROTOCOLS_OF[wanted.protocol].flatMap((protocol) => {
    const matching = matchingRules(traffic, protocol);
    return ranges.flatMap((range) =>
      piecesOf(range, matching).map((port) => portRules(matching, port).length > 0),
    );
  });
}
