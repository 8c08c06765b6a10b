import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

const ROLE = /^arn:(aws[\w-]*):iam::(\d{12}):role(\/(?:.*\/)?)([^/]+)$/;

/**
 * The commands that make a role trust the organization's issuer for one credential, and may change rules.
 * @param policy what the role may do
 */
export function trustSetup({ issuer, subject, hints }: TrustSetup, policy: string): string {
  const { partition, account } = roleOf(hints);
  // AWS names an issuer without its scheme
  const provider = issuer.replace(/^https?:\/\//, '');
  const providerArn = `arn:${partition}:iam::${account}:oidc-provider/${provider}`;
  const trust = {
    Principal: { Federated: providerArn },
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: {
      StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: subject },
    },
  };
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
  { hints, externalId = 'EXTERNAL_ID' }: Pick<TrustSetup, 'hints' | 'externalId'>,
  policy: string,
): string {
  const trust = {
    Principal: { AWS: 'DRAWBRIDGE_ARN' },
    Action: 'sts:AssumeRole',
    Condition: { StringEquals: { 'sts:ExternalId': externalId } },
  };
  return `# DRAWBRIDGE_ARN: the identity of this deployment; its operator knows it
${roleSetup(hints, trust, policy)}`;
}

/** The parts of the role's ARN, or words in capitals for them. */
function roleOf(hints: TrustSetup['hints']): Record<'partition' | 'account' | 'path' | 'role', string> {
  const [, partition = 'aws', account = 'ACCOUNT', path = '/', role = 'ROLE'] =
    ROLE.exec(hints['roleArn'] ?? '') ?? [];
  return { partition, account, path, role };
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
