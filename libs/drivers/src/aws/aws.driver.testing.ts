import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { formatMark, type ChangeResult, type RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, RuleChange } from '../provider-driver';

export const GROUP = 'sg-0123456789abcdef0';
export const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
export const SECRET = 'tenant-secret-access-key';
export const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
export const OWN_KEYS = {
  DRAWBRIDGE_AWS_ACCESS_KEY_ID: 'AKIADEPLOYMENT',
  DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: 'deployment-secret-access-key',
};

interface Call {
  readonly path: string;
  readonly action: string;
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

type Script = (call: Call, response: ServerResponse) => void;

/** An HTTP endpoint with scripted responses. Records its calls. */
export class ScriptedEndpoint {
  readonly calls: Call[] = [];
  script: Script = (call, response) => response.writeHead(500).end(`no reply scripted for ${call.action}`);
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const call = {
        path: request.url ?? '',
        action: form.get('Action') ?? '',
        form,
        headers: request.headers,
      };
      this.calls.push(call);
      this.script(call, response);
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('Not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  get actions(): string[] {
    return this.calls.map(({ action }) => action.replace('SecurityGroup', ''));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  /** Replies to each call with the next element. */
  reply(...replies: (string | { status: number; body: string })[]): void {
    this.script = (call, response) => {
      const next = replies.shift() ?? { status: 500, body: `no reply left for ${call.action}` };
      if (typeof next === 'string') response.end(next);
      else response.writeHead(next.status).end(next.body);
    };
  }
}

const reply = (operation: string, content: string): string =>
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

export const session = (secondsLeft: number): string =>
  '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>' +
  '<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>' +
  '<SessionToken>role-session-token</SessionToken>' +
  `<Expiration>${new Date(Date.now() + secondsLeft * 1000).toISOString()}</Expiration>` +
  '</Credentials></AssumeRoleResult></AssumeRoleResponse>';

/** An account with a scripted AssumeRole response, whose group has one rule. */
export const account =
  (assume: (call: Call) => string | { status: number; body: string }): Script =>
  (call, response) => {
    const body =
      call.action === 'AssumeRole'
        ? assume(call)
        : call.action === 'DescribeSecurityGroups'
          ? groupShown
          : listed([rule('sgr-1', '203.0.113.1/32')]);
    if (typeof body === 'string') response.end(body);
    else response.writeHead(body.status).end(body.body);
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
export const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((result) => (result.result === 'refused' ? result.kind : result.result));

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

export const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw new Error(`Expected DriverError, got ${String(error)}`);
};

export const driverEnvironment = ({
  url,
}: ScriptedEndpoint): { AWS_ENDPOINT_URL_EC2: string; AWS_ENDPOINT_URL_STS: string } => ({
  AWS_ENDPOINT_URL_EC2: `${url}/ec2`,
  AWS_ENDPOINT_URL_STS: `${url}/sts`,
});
