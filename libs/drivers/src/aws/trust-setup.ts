import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

const ROLE = /^arn:(aws[\w-]*):iam::(\d{12}):role(\/(?:.*\/)?)([^/]+)$/;

/**
 * The commands that make a role trust the organization's issuer for one credential, and may change rules.
 * @param policy what the role may do
 */
export function trustSetup({ issuer, subject, hints }: TrustSetup, policy: string): string {
  const [, partition = 'aws', account = 'ACCOUNT', path = '/', role = 'ROLE'] =
    ROLE.exec(hints['roleArn'] ?? '') ?? [];
  // AWS names an issuer without its scheme
  const provider = issuer.replace(/^https?:\/\//, '');
  const providerArn = `arn:${partition}:iam::${account}:oidc-provider/${provider}`;
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated: providerArn },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: subject },
        },
      },
    ],
  };
  const pathOption = path === '/' ? '' : ` --path ${quoted(path)}`;
  const named = `--role-name ${quoted(role)}`;
  return `# once for each account
${unless(
  `aws iam get-open-id-connect-provider --open-id-connect-provider-arn ${quoted(providerArn)}`,
  `aws iam create-open-id-connect-provider --url ${quoted(issuer)} --client-id-list sts.amazonaws.com`,
)}

# a role for this credential; one that exists keeps its trust: compare it with trust.json
${writing('trust.json', JSON.stringify(trust, null, 2))}
${writing('policy.json', policy)}
${unless(
  `aws iam get-role ${named}`,
  `aws iam create-role ${named}${pathOption} --assume-role-policy-document file://trust.json`,
)}
aws iam put-role-policy ${named} --policy-name drawbridge --policy-document file://policy.json
`;
}
