import { TRAFFIC_FIELDS, type FieldForm, type ProviderFacts } from '../provider-facts';
import { ownIdentitySetup, trustSetup } from './trust-setup';

const ROLE_ARN: FieldForm = {
  pattern: /^arn:aws(-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]{1,1024}$/,
  words: 'must look like arn:aws:iam::123456789012:role/drawbridge',
  example: 'arn:aws:iam::123456789012:role/drawbridge',
};

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
    'AWS_ENDPOINT_URL_STS',
    'AWS_ROLE_ARN',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'DRAWBRIDGE_AWS_ACCESS_KEY_ID',
    'DRAWBRIDGE_AWS_SECRET_ACCESS_KEY',
  ],
  traits: {
    // A group has at most 1000 rules. EC2 documents no limit per request; 500 rules are about 100 kB of form data.
    batchSize: 500,
    // An entry of a prefix list that exists would be overwritten instead.
    refusesDuplicates: ['SECURITY_GROUP'],
    // EC2's token bucket for changes to security groups, per account and region.
    writeBudget: { burst: 50, refillPerSecond: 5 },
    // A rule that is needed again right after its removal is back within two seconds, and nearly every stop is closed within two.
    writeSpacing: { usualMs: 1500, burstMs: 4000, burstSize: 20 },
    callTimeoutMs: 5000,
  },
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
      required: ['roleArn'],
      optional: [],
      descriptions: {
        roleArn:
          'the role to assume; its trust policy names the external id that is answered when the credential is made',
      },
      forms: {
        roleArn: ROLE_ARN,
      },
      hints: ['roleArn'],
      setup: (trust) => ownIdentitySetup(trust, POLICY),
    },
    WEB_IDENTITY: {
      label: 'Role, without a secret',
      required: ['roleArn'],
      optional: [],
      descriptions: { roleArn: 'the role that trusts your issuer' },
      forms: { roleArn: ROLE_ARN },
      hints: ['roleArn'],
      needsIssuer: true,
      setup: (trust) => trustSetup(trust, POLICY),
    },
  },
  resourceTypes: {
    SECURITY_GROUP: {
      label: 'Security group',
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
  },
  policy: POLICY,
  revocation: {
    cutsConnections: 'no',
    words:
      'Security groups track connections: one that is established lives until it ends or has been idle too long.',
  },
  region: { pattern: /^[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}$/, example: 'eu-central-1' },
};
