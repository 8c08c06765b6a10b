import type { CloudTarget } from '../provider-driver';

/** The calls on one target, by resourceType: those for which AWS checks the target, and those that have none to check. */
const CALLS: Readonly<
  Record<
    string,
    { readonly on: (arn: string, id: string) => string[]; readonly write: string[]; readonly read: string[] }
  >
> = {
  SECURITY_GROUP: {
    // AWS may check the rule as well as its group; a rule of another group still needs that group.
    on: (prefix, id) => [`${prefix}:security-group/${id}`, `${prefix}:security-group-rule/*`],
    write: ['AuthorizeSecurityGroupIngress', 'RevokeSecurityGroupIngress'],
    // the size of lists that its rules refer to
    read: ['DescribeSecurityGroupRules', 'DescribeSecurityGroups', 'DescribeManagedPrefixLists'],
  },
  PREFIX_LIST: {
    on: (prefix, id) => [`${prefix}:prefix-list/${id}`],
    write: ['GetManagedPrefixListEntries', 'ModifyManagedPrefixList'],
    read: ['DescribeManagedPrefixLists'],
  },
};

/** Types whose identifier is an ARN, on which AWS checks each call. */
const CALLS_ON_ARN: Readonly<Record<string, readonly string[]>> = {
  WAF_IP_SET: ['wafv2:GetIPSet', 'wafv2:UpdateIPSet'],
  EKS_CLUSTER: ['eks:DescribeCluster', 'eks:UpdateClusterConfig'],
};

const policy = (...statements: object[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements });
const actions = (calls: readonly string[]): string[] => calls.map((call) => `ec2:${call}`);

/** Of sessions that only prove that a role can be assumed: they may do nothing. */
export const NO_CALLS = policy({ Effect: 'Deny', Action: '*', Resource: '*' });

/** Of the session that lists the accounts of an organization. */
export const LIST_ACCOUNTS = policy({
  Effect: 'Allow',
  Action: 'organizations:ListAccounts',
  Resource: '*',
});

/**
 * The policy that limits a role's session to the calls on one target. AWS allows what both the role and this allow, so a
 * stolen session opens one target at most. At most 400 characters long; AWS takes 2048.
 * @param roleArn names the partition
 */
export function sessionPolicy(
  { resourceType, identifier }: CloudTarget,
  region: string,
  roleArn: string,
): string {
  const onArn = CALLS_ON_ARN[resourceType];
  if (onArn) return policy({ Effect: 'Allow', Action: onArn, Resource: identifier });
  const calls = CALLS[resourceType];
  if (!calls) return NO_CALLS;
  const [, partition = 'aws'] = roleArn.split(':');
  // Any account: ids are unique, and a shared target has the account of its owner.
  const resources = calls.on(`arn:${partition}:ec2:${region}:*`, identifier);
  return policy(
    { Effect: 'Allow', Action: actions(calls.write), Resource: resources },
    { Effect: 'Allow', Action: actions(calls.read), Resource: '*' },
  );
}
