import { actionsOf, SERVICES } from '../azure/services/service-types';

/** Clouds whose accounts give permissions by roles or policies. */
export const WITH_ROLES = ['AWS', 'GCP', 'AZURE'] as const;
export type WithRoles = (typeof WITH_ROLES)[number];

const AZURE_NETWORK = 'Microsoft.Network/networkSecurityGroups';

/** The policies of the providers' pages, which is all that the simulated accounts grant. */
export const GRANTED: Readonly<Record<WithRoles, readonly string[]>> = {
  AWS: [
    'ec2:AuthorizeSecurityGroupIngress',
    'ec2:DescribeManagedPrefixLists',
    'ec2:DescribeSecurityGroupRules',
    'ec2:DescribeSecurityGroups',
    'ec2:GetManagedPrefixListEntries',
    'ec2:ModifyManagedPrefixList',
    'ec2:RevokeSecurityGroupIngress',
    'eks:DescribeCluster',
    'eks:UpdateClusterConfig',
    'wafv2:GetIPSet',
    'wafv2:UpdateIPSet',
  ],
  GCP: [
    'compute.firewalls.create',
    'compute.firewalls.delete',
    'compute.firewalls.get',
    'compute.firewalls.list',
    'compute.firewalls.update',
    'compute.globalOperations.get',
    'compute.networks.get',
    'compute.networks.getEffectiveFirewalls',
    'compute.networks.updatePolicy',
  ],
  AZURE: [
    'Microsoft.Authorization/locks/read',
    'Microsoft.Authorization/permissions/read',
    'Microsoft.Network/locations/operations/read',
    'Microsoft.Network/locations/operationResults/read',
    `${AZURE_NETWORK}/read`,
    `${AZURE_NETWORK}/securityRules/read`,
    `${AZURE_NETWORK}/securityRules/write`,
    `${AZURE_NETWORK}/securityRules/delete`,
    ...SERVICES.flatMap(actionsOf),
  ],
};

/** What the simulated accounts allow Drawbridge's credentials to do. */
export class Roles {
  private readonly withdrawn = new Map<WithRoles, ReadonlySet<string>>();

  /** Takes permissions away, and gives back all that are not named. */
  withdraw(provider: WithRoles, permissions: readonly string[]): void {
    this.withdrawn.set(provider, new Set(permissions));
  }

  permissionsOf(provider: WithRoles): readonly string[] {
    const withdrawn = this.withdrawn.get(provider);
    return GRANTED[provider].filter((permission) => !withdrawn?.has(permission));
  }

  allows(provider: WithRoles, permission: string): boolean {
    return this.permissionsOf(provider).includes(permission);
  }

  /** Gives back every permission. */
  clear(): void {
    this.withdrawn.clear();
  }
}
