import { quoted, writing, type TrustSetup } from '../trust-setup';

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
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated: `arn:${partition}:iam::${account}:oidc-provider/${provider}` },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: { [`${provider}:aud`]: 'sts.amazonaws.com', [`${provider}:sub`]: subject },
        },
      },
    ],
  };
  const pathOption = path === '/' ? '' : ` --path ${quoted(path)}`;
  return `# once for each account
aws iam create-open-id-connect-provider --url ${quoted(issuer)} --client-id-list sts.amazonaws.com

# a role for this credential
${writing('trust.json', JSON.stringify(trust, null, 2))}
${writing('policy.json', policy)}
aws iam create-role --role-name ${quoted(role)}${pathOption} --assume-role-policy-document file://trust.json
aws iam put-role-policy --role-name ${quoted(role)} --policy-name drawbridge --policy-document file://policy.json
`;
}
