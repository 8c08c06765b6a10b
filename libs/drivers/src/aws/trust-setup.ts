import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

const ROLE = /^arn:(aws[\w-]*):iam::(\d{12}|\{account\}):role(\/(?:.*\/)?)([^/]+)$/;

/**
 * The commands that make a role trust the organization's issuer for one credential, and may change rules.
 * @param policy what the role may do
 */
export function trustSetup({ issuer, subject, hints, scope }: TrustSetup, policy: string): string {
  const { partition, account } = roleOf(hints);
  // AWS names an issuer without its scheme
  const provider = issuer.replace(/^https?:\/\//, '');
  const providerArn = `arn:${partition}:iam::${account}:oidc-provider/${provider}`;
  const trust = {
    Principal: { Federated: scope === undefined ? providerArn : { Ref: 'Issuer' } },
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: {
      StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: subject },
    },
  };
  if (scope !== undefined) {
    const Properties = { Url: issuer, ClientIdList: ['sts.amazonaws.com'] };
    const issuers = { Issuer: { Type: 'AWS::IAM::OIDCProvider', Properties } };
    return stackSetSetup(hints, trust, policy, { scope, more: issuers });
  }
  return `# once for each account
${unless(
  `aws iam get-open-id-connect-provider --open-id-connect-provider-arn ${quoted(providerArn)}`,
  `aws iam create-open-id-connect-provider --url ${quoted(issuer)} --client-id-list sts.amazonaws.com`,
)}

${roleSetup(hints, trust, policy)}`;
}

/**
 * The commands that make a role trust Drawbridge's own identity, with the organization's external id. Only the operator
 * knows the identity.
 * @param policy what the role may do
 */
export function ownIdentitySetup(
  { hints, externalId = 'EXTERNAL_ID', scope }: Pick<TrustSetup, 'hints' | 'externalId' | 'scope'>,
  policy: string,
): string {
  const trust = {
    Principal: { AWS: 'DRAWBRIDGE_ARN' },
    Action: 'sts:AssumeRole',
    Condition: { StringEquals: { 'sts:ExternalId': externalId } },
  };
  const setup =
    scope === undefined
      ? roleSetup(hints, trust, policy)
      : stackSetSetup(hints, trust, policy, { scope, more: {} });
  return `# DRAWBRIDGE_ARN: the identity of this deployment; its operator knows it
${setup}`;
}

/** The parts of the role's ARN, or words in capitals for them. */
function roleOf(hints: TrustSetup['hints']): Record<'partition' | 'account' | 'path' | 'role', string> {
  const [, partition = 'aws', account = 'ACCOUNT', path = '/', role = 'ROLE'] =
    ROLE.exec(hints['roleArn'] ?? '') ?? [];
  return { partition, account: account.startsWith('{') ? 'ACCOUNT' : account, path, role };
}

/** The commands that make the role in every account of an organizational unit, and in those that come. */
function stackSetSetup(
  hints: TrustSetup['hints'],
  trust: object,
  policy: string,
  { scope, more }: { readonly scope: string; readonly more: object },
): string {
  const { path, role } = roleOf(hints);
  const Version = '2012-10-17';
  const properties = {
    RoleName: role,
    Path: path,
    AssumeRolePolicyDocument: { Version, Statement: [{ Effect: 'Allow', ...trust }] },
    Policies: [{ PolicyName: 'drawbridge', PolicyDocument: JSON.parse(policy) as object }],
  };
  const template = { Resources: { ...more, Role: { Type: 'AWS::IAM::Role', Properties: properties } } };
  const named = `--stack-set-name ${quoted(`drawbridge-${role}`.replaceAll(/[^A-Za-z0-9-]/g, '-'))}`;
  return `# in the management account, with trusted access of CloudFormation StackSets; accounts that come later get the role by themselves
${writing('drawbridge.json', JSON.stringify(template, null, 2))}
${unless(
  `aws cloudformation describe-stack-set ${named}`,
  `aws cloudformation create-stack-set ${named} --template-body file://drawbridge.json \\
  --capabilities CAPABILITY_NAMED_IAM --permission-model SERVICE_MANAGED \\
  --auto-deployment Enabled=true,RetainStacksOnAccountRemoval=false`,
)}
aws cloudformation create-stack-instances ${named} --regions us-east-1 \\
  --deployment-targets OrganizationalUnitIds=${quoted(scope)}
# StackSets skip the management account: for resources in it, make the role there with the commands for one account
`;
}

function roleSetup(hints: TrustSetup['hints'], trust: object, policy: string): string {
  const { path, role } = roleOf(hints);
  const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...trust }] };
  const pathOption = path === '/' ? '' : ` --path ${quoted(path)}`;
  const named = `--role-name ${quoted(role)}`;
  return `# a role for this credential; one that exists keeps its trust: compare it with trust.json
${writing('trust.json', JSON.stringify(document, null, 2))}
${writing('policy.json', policy)}
${unless(
  `aws iam get-role ${named}`,
  `aws iam create-role ${named}${pathOption} --assume-role-policy-document file://trust.json`,
)}
aws iam put-role-policy ${named} --policy-name drawbridge --policy-document file://policy.json
`;
}
