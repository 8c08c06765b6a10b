import type { Firewall, NetworkPolicies } from './firewalls';
import { PROJECT } from './service-account';

export const LINK = `https://www.googleapis.com/compute/v1/projects/${PROJECT}/global`;

export const networkLink = (network: string): string => `${LINK}/networks/${network}`;

/** A firewall rule as Compute returns it: empty fields are left out. */
export function firewallJson(rule: Firewall): Readonly<Record<string, unknown>> {
  const lists = {
    sourceRanges: rule.sourceRanges,
    sourceTags: rule.sourceTags,
    sourceServiceAccounts: rule.sourceServiceAccounts,
    targetTags: rule.targetTags,
    targetServiceAccounts: rule.targetServiceAccounts,
    allowed: rule.allowed,
    denied: rule.denied,
  };
  return {
    kind: 'compute#firewall',
    id: rule.id,
    creationTimestamp: rule.creationTimestamp,
    name: rule.name,
    description: rule.description,
    network: networkLink(rule.network),
    priority: rule.priority,
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
    direction: rule.direction,
    logConfig: { enable: false },
    disabled: rule.disabled,
    selfLink: `${LINK}/firewalls/${rule.name}`,
  };
}

export const networkJson = (name: string, { order }: NetworkPolicies): unknown => ({
  kind: 'compute#network',
  id: '1000000000000000001',
  name,
  selfLink: networkLink(name),
  autoCreateSubnetworks: true,
  routingConfig: { routingMode: 'REGIONAL' },
  networkFirewallPolicyEnforcementOrder: order,
});
