import type { DriverTraits } from '../provider-driver';
import {
  TRAFFIC_FIELDS,
  USUAL,
  type AccountShape,
  type FieldForm,
  type ProviderFacts,
  type RegionForm,
  type Revocation,
} from '../provider-facts';
import { CLUSTER_ARN, IP_SET_ARN, parseCluster, parseIpSet } from './arns';
import { ownIdentitySetup, trustSetup } from './trust-setup';

/** In the place of the digits of an account: the role exists in many, by the same name. */
export const ANY_ACCOUNT = '{account}';

const ROLE_ARN: FieldForm = {
  pattern: /^arn:aws(-[a-z]+)*:iam::(\d{12}|\{account\}):role\/[\w+=,.@/-]{1,1024}$/,
  words:
    'must look like arn:aws:iam::123456789012:role/drawbridge; {account} in place of the 12 digits: a role of this name in many accounts',
  example: 'arn:aws:iam::123456789012:role/drawbridge',
};

const LISTING_ROLE: FieldForm = {
  pattern: /^arn:aws(-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]{1,1024}$/,
  words: 'must look like arn:aws:iam::123456789012:role/drawbridge-accounts',
  example: 'arn:aws:iam::123456789012:role/drawbridge-accounts',
};

/** What both kinds of roles have. */
const ROLE = {
  required: ['roleArn'],
  optional: ['listingRoleArn'],
  forms: { roleArn: ROLE_ARN, listingRoleArn: LISTING_ROLE },
  hints: ['roleArn', 'listingRoleArn'],
  scope: {
    pattern: /^(r-[0-9a-z]{4,32}|ou-[0-9a-z]{4,32}-[0-9a-z]{8,32})$/,
    words: 'must be the id of an organizational unit, like ou-abcd-12345678, or of the root, like r-abcd',
    example: 'ou-abcd-12345678',
  },
};

const LISTING_DESCRIPTION =
  'a role in the management account, or in a delegated administrator, that trusts the same and may organizations:ListAccounts: ' +
  'the accounts of the organization get their names; left out: they are labelled here';

/** A role whose ARN leaves the account open. */
const ACCOUNT: AccountShape = {
  noun: 'AWS account',
  pattern: /^\d{12}$/,
  example: '123456789012',
  of: ({ roleArn = '' }) => accountIn(roleArn) ?? null,
  fill: (fields, account) => ({
    ...fields,
    roleArn: (fields['roleArn'] ?? '').replace(ANY_ACCOUNT, account),
  }),
  isListed: ({ listingRoleArn = '' }) => listingRoleArn !== '',
};

/** The account in an ARN; undefined: it names none. */
export const accountIn = (arn: string): string | undefined => /^(?:[^:]*:){4}(\d{12}):/.exec(arn)?.[1];

/** What a user or a role needs. */
const POLICY = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "SecurityGroups",
      "Effect": "Allow",
      "Action": [
        "ec2:AuthorizeSecurityGroupIngress",
        "ec2:DescribeSecurityGroupRules",
        "ec2:DescribeSecurityGroups",
        "ec2:RevokeSecurityGroupIngress"
      ],
      "Resource": "*"
    },
    {
      "Sid": "PrefixLists",
      "Effect": "Allow",
      "Action": [
        "ec2:DescribeManagedPrefixLists",
        "ec2:GetManagedPrefixListEntries",
        "ec2:ModifyManagedPrefixList"
      ],
      "Resource": "*"
    }
  ]
}
`;

const policyOn = (sid: string, actions: readonly string[], resource: string): string => `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "${sid}",
      "Effect": "Allow",
      "Action": [${actions.map((action) => `"${action}"`).join(', ')}],
      "Resource": "${resource}"
    }
  ]
}
`;

/** One policy with the statements of several. */
const joinPolicies = (policies: readonly string[]): string => {
  const statements = policies.flatMap((text) => (JSON.parse(text) as { Statement: object[] }).Statement);
  return `${JSON.stringify({ Version: '2012-10-17', Statement: statements }, null, 2)}\n`;
};

const TRAITS: DriverTraits = {
  // A group has at most 1000 rules. EC2 documents no limit per request; 500 rules are about 100 kB of form data.
  batchSize: 500,
  // EC2's token bucket for changes to security groups, per account and region.
  writeBudget: { burst: 50, refillPerSecond: 5 },
  // A rule that is needed again right after its removal is back within two seconds, and nearly every stop is closed within two.
  writeSpacing: { usualMs: 1500, burstMs: 4000, burstSize: 20 },
  callTimeoutMs: 5000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'no',
  words:
    'Security groups track connections: one that is established lives until it ends or has been idle too long.',
};

export const REGION: RegionForm = {
  pattern: /^[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}$/,
  example: 'eu-central-1',
};

export const AWS_FACTS: ProviderFacts = {
  provider: 'AWS',
  label: 'AWS',
  variables: [
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_EC2_METADATA_SERVICE_ENDPOINT',
    'AWS_ENDPOINT_URL_EC2',
    'AWS_ENDPOINT_URL_EKS',
    'AWS_ENDPOINT_URL_ORGANIZATIONS',
    'AWS_ENDPOINT_URL_STS',
    'AWS_ENDPOINT_URL_WAFV2',
    'AWS_ROLE_ARN',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'DRAWBRIDGE_AWS_ACCESS_KEY_ID',
    'DRAWBRIDGE_AWS_SECRET_ACCESS_KEY',
  ],
  credentialTypes: {
    ACCESS_KEY: {
      label: 'Access key',
      required: ['accessKeyId', 'secretAccessKey'],
      optional: ['sessionToken'],
      descriptions: {
        accessKeyId: 'the id of an access key of an IAM user',
        secretAccessKey: 'its secret, which AWS shows once, when the key is made',
        sessionToken: 'of temporary keys only; they stop working when it expires',
      },
      forms: {
        accessKeyId: {
          pattern: /^\w{1,128}$/,
          words: 'must be letters and digits only',
          example: 'AKIAIOSFODNN7EXAMPLE',
        },
      },
      hints: ['accessKeyId'],
      // the AWS command line, its configuration file, and its environment variables
      aliases: {
        AccessKeyId: 'accessKeyId',
        SecretAccessKey: 'secretAccessKey',
        SessionToken: 'sessionToken',
        aws_access_key_id: 'accessKeyId',
        aws_secret_access_key: 'secretAccessKey',
        aws_session_token: 'sessionToken',
        AWS_ACCESS_KEY_ID: 'accessKeyId',
        AWS_SECRET_ACCESS_KEY: 'secretAccessKey',
        AWS_SESSION_TOKEN: 'sessionToken',
      },
    },
    ASSUME_ROLE: {
      label: 'Role, assumed by Drawbridge',
      ...ROLE,
      descriptions: {
        roleArn:
          'the role to assume; its trust policy names the external id that is answered when the credential is made',
        listingRoleArn: LISTING_DESCRIPTION,
      },
      account: ACCOUNT,
      setup: ownIdentitySetup,
    },
    WEB_IDENTITY: {
      label: 'Role, without a secret',
      ...ROLE,
      descriptions: { roleArn: 'the role that trusts your issuer', listingRoleArn: LISTING_DESCRIPTION },
      account: ACCOUNT,
      needsIssuer: true,
      setup: trustSetup,
    },
  },
  resourceTypes: {
    SECURITY_GROUP: {
      label: 'Security group',
      // An entry of a prefix list that exists would be overwritten instead.
      traits: { ...TRAITS, refusesDuplicates: true },
      ...USUAL,
      region: REGION,
      policy: POLICY,
      revocation: REVOCATION,
      identifier: {
        pattern: /^sg-[0-9a-f]{8,17}$/i,
        example: 'sg-0123456789abcdef0',
        description: 'the id of the security group',
      },
      portsPerRule: 'one',
      config: TRAFFIC_FIELDS,
      nameTarget: ({ identifier }) => {
        const id = identifier.toLowerCase();
        return { key: `AWS:security-group:${id}`, identifier: id };
      },
    },
    PREFIX_LIST: {
      label: 'Prefix list',
      traits: TRAITS,
      ...USUAL,
      region: REGION,
      policy: POLICY,
      revocation: REVOCATION,
      identifier: {
        pattern: /^pl-([0-9a-f]{8}|[0-9a-f]{17})$/i,
        example: 'pl-0123456789abcdef0',
        description: 'the id of a managed prefix list of the account; it takes either IPv4 or IPv6 addresses',
      },
      portsPerRule: 'none',
      config: [],
      nameTarget: ({ identifier }) => {
        const id = identifier.toLowerCase();
        return { key: `AWS:prefix-list:${id}`, identifier: id };
      },
    },
    WAF_IP_SET: {
      label: 'IP set of WAF',
      traits: {
        batchSize: 1000,
        wholeList: true,
        // AWS allows one change each second in an account and region, of all programs together. With a burst of one, a part of
        // which is kept for removals, nothing would ever be added.
        writeBudget: { burst: 2, refillPerSecond: 0.5 },
        writeSpacing: { usualMs: 2000, burstMs: 4000, burstSize: 20 },
        callTimeoutMs: 5000,
      },
      ...USUAL,
      effect: { usualSeconds: 10, atMostSeconds: 180 },
      regionOf: (arn) => parseIpSet(arn)!.region,
      accountOf: accountIn,
      policy: policyOn('WafIpSet', ['wafv2:GetIPSet', 'wafv2:UpdateIPSet'], '<ARN of the IP set>'),
      revocation: {
        cutsConnections: 'yes',
        words:
          'Each request is looked at: the next one is refused, once the change is everywhere (see effect). A WebSocket that is open stays open.',
      },
      identifier: {
        pattern: IP_SET_ARN,
        example:
          'arn:aws:wafv2:eu-central-1:123456789012:regional/ipset/office/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a6b',
        description: 'the ARN of the IP set, which takes either IPv4 or IPv6 addresses',
      },
      portsPerRule: 'none',
      config: [],
      nameTarget: ({ identifier }) => ({ key: `AWS:waf-ip-set:${identifier}`, identifier }),
    },
    EKS_CLUSTER: {
      label: 'Public endpoint of EKS',
      traits: {
        batchSize: 40,
        wholeList: true,
        writeBudget: { burst: 5, refillPerSecond: 0.5 },
        // Each update blocks the next one for minutes: changes are gathered.
        writeSpacing: { usualMs: 10_000, burstMs: 20_000, burstSize: 5 },
        oneWriteAtATime: true,
        callTimeoutMs: 10_000,
      },
      ...USUAL,
      regionOf: (arn) => parseCluster(arn)!.region,
      accountOf: accountIn,
      policy: policyOn(
        'EksCluster',
        ['eks:DescribeCluster', 'eks:UpdateClusterConfig'],
        '<ARN of the cluster>',
      ),
      revocation: {
        cutsConnections: 'no',
        words: 'Connections to the Kubernetes API that are established, such as watches, live on.',
      },
      identifier: {
        pattern: CLUSTER_ARN,
        example: 'arn:aws:eks:eu-central-1:123456789012:cluster/production',
        description: 'the ARN of the cluster; its public endpoint is meant',
      },
      portsPerRule: 'none',
      config: [],
      nameTarget: ({ identifier }) => ({ key: `AWS:eks-cluster:${identifier}`, identifier }),
    },
  },
  joinPolicies,
};
