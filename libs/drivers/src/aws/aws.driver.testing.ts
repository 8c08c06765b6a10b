import type { ServerResponse } from 'node:http';
import { formatMark, type RuleSpec } from '#rules';
import type { CloudTarget, CloudDriver, RuleChange } from '../provider-driver';
import { ScriptedServer, type Respond, type ScriptedCall } from '../scripted-server.testing';
import { createAwsDriver } from './aws.driver';

export const GROUP = 'sg-0123456789abcdef0';
export const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
export const SECRET = 'tenant-secret-access-key';
export const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
const OWN_KEYS = {
  DRAWBRIDGE_AWS_ACCESS_KEY_ID: 'AKIADEPLOYMENT',
  DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: 'deployment-secret-access-key',
};

export type Script = string | { status: number; body: string };

const send = (script: Script, response: ServerResponse): void => {
  if (typeof script === 'string') response.end(script);
  else response.writeHead(script.status).end(script.body);
};

export const formOf = ({ body }: ScriptedCall): URLSearchParams => new URLSearchParams(body);
const actionOf = (call: ScriptedCall): string => formOf(call).get('Action') ?? '';

/** EC2 and STS with scripted responses. */
export class ScriptedEndpoint extends ScriptedServer {
  constructor() {
    super((call, response) => send(refusal(500, `no reply scripted for ${actionOf(call)}`), response));
  }

  get actions(): string[] {
    return this.calls.map((call) => actionOf(call).replace('SecurityGroup', ''));
  }

  get environment(): NodeJS.ProcessEnv {
    return { AWS_ENDPOINT_URL_EC2: `${this.url}/ec2`, AWS_ENDPOINT_URL_STS: `${this.url}/sts` };
  }

  newDriver(): CloudDriver {
    return createAwsDriver({ ...this.environment, ...OWN_KEYS });
  }

  /** Replies to each call with the next element. */
  reply(...replies: Script[]): void {
    this.respond = (call, response) =>
      send(replies.shift() ?? refusal(500, `no reply left for ${actionOf(call)}`), response);
  }

  /** Replies to each call with the next element, and then with the last one. */
  repeat(...replies: Script[]): void {
    this.respond = (_, response) => send(replies.length > 1 ? replies.shift()! : replies[0]!, response);
  }
}

export const reply = (operation: string, content: string): string =>
  `<${operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${content}</${operation}Response>`;

export const refusal = (status: number, code: string, message = 'no'): { status: number; body: string } => ({
  status,
  body: `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors></Response>`,
});

export const duplicate = refusal(400, 'InvalidPermission.Duplicate');
export const notFound = refusal(400, 'InvalidSecurityGroupRuleId.NotFound');

export const rule = (id: string, cidr: string, description = formatMark(MARK)): string =>
  `<item><securityGroupRuleId>${id}</securityGroupRuleId><isEgress>false</isEgress><ipProtocol>tcp</ipProtocol>` +
  `<fromPort>22</fromPort><toPort>22</toPort><cidrIpv4>${cidr}</cidrIpv4><description>${description}</description></item>`;

export const added = (...rules: string[]): string =>
  reply(
    'AuthorizeSecurityGroupIngress',
    `<return>true</return><securityGroupRuleSet>${rules.join('')}</securityGroupRuleSet>`,
  );

export const listed = (rules: readonly string[], next = ''): string =>
  reply(
    'DescribeSecurityGroupRules',
    `<securityGroupRuleSet>${rules.join('')}</securityGroupRuleSet>${next && `<nextToken>${next}</nextToken>`}`,
  );

export const revoked = reply('RevokeSecurityGroupIngress', '<return>true</return>');

export const groupShown = reply(
  'DescribeSecurityGroups',
  `<securityGroupInfo><item><groupId>${GROUP}</groupId></item></securityGroupInfo>`,
);

export const listShown = (maxEntries: number): string =>
  reply(
    'DescribeManagedPrefixLists',
    `<prefixListSet><item><prefixListId>pl-1</prefixListId><addressFamily>IPv4</addressFamily><maxEntries>${maxEntries}</maxEntries></item></prefixListSet>`,
  );

export const session = (secondsLeft: number): string =>
  '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>' +
  '<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>' +
  '<SessionToken>role-session-token</SessionToken>' +
  `<Expiration>${new Date(Date.now() + secondsLeft * 1000).toISOString()}</Expiration>` +
  '</Credentials></AssumeRoleResult></AssumeRoleResponse>';

/** An account with a scripted AssumeRole response, whose group has one rule. */
export const account =
  (assume: (form: URLSearchParams) => Script): Respond =>
  (call, response) => {
    const action = actionOf(call);
    if (action === 'AssumeRole') send(assume(formOf(call)), response);
    else if (action === 'DescribeSecurityGroups') send(groupShown, response);
    else send(listed([rule('sgr-1', '203.0.113.1/32')]), response);
  };
export const denied = {
  status: 403,
  body: '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>',
};

const ssh = (cidr: string): RuleSpec => ({
  address: cidr,
  protocol: 'tcp',
  ports: [{ from: 22, to: 22 }],
});
export const add = (cidr: string): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: ssh(cidr),
  mark: MARK,
  config: {},
});
export const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId,
});

export const target = (data: Record<string, string> = {}): CloudTarget => ({
  resourceType: 'SECURITY_GROUP',
  identifier: GROUP,
  region: 'eu-west-1',
  credential: {
    credentialType: 'ACCESS_KEY',
    data: { accessKeyId: 'AKIATENANT', secretAccessKey: SECRET, ...data },
    externalId: null,
    identity: null,
  },
  deployment: 'prod',
  claims: new Map(),
});

export const roleTarget = (externalId: string | null = 'external-id'): CloudTarget => ({
  ...target(),
  credential: {
    credentialType: 'ASSUME_ROLE',
    data: { roleArn: 'arn:aws:iam::123456789012:role/doors' },
    externalId,
    identity: null,
  },
});
