import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { ChangeResult, ResourceConfig, RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, ProviderDriver, RuleChange } from '../provider-driver';
import { createAzureDriver } from './azure.driver';
import { ruleName, securityRuleOf } from './rule-mapping';

export const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
export const SSH: RuleSpec = { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] };
export const SECRET = 'the-client-secret';
export const ID =
  '/subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/group/providers/microsoft.network/networksecuritygroups/nsg';
export const NAME = ruleName(SSH, 'prod');

export const target = (clientSecret = SECRET): CloudTarget => ({
  resourceType: 'NETWORK_SECURITY_GROUP',
  identifier: ID,
  region: null,
  credential: {
    credentialType: 'SERVICE_PRINCIPAL',
    externalId: null,
    identity: null,
    data: {
      tenantId: '00000000-0000-4000-8000-000000000002',
      clientId: '00000000-0000-4000-8000-000000000003',
      subscriptionId: '00000000-0000-4000-8000-000000000001',
      clientSecret,
    },
  },
  deployment: 'prod',
  claims: new Map(),
});
export const add = (spec = SSH, config: ResourceConfig = {}): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec,
  mark: MARK,
  config,
});
export const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId,
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** a string is sent unchanged, other values as JSON */
  readonly body?: unknown;
}

/** A fake Azure: returns the scripted replies of a path in order and repeats the last one. Records its calls. */
export class ScriptedAzure {
  readonly calls: Call[] = [];
  private readonly replies = new Map<string, Reply[]>();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0]!;
      const method = request.method ?? '';
      this.calls.push({ method, path, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const queue = this.replies.get(`${method} ${path.split('/').slice(-2).join('/')}`) ?? [];
      const {
        status = 200,
        headers = {},
        body,
      } = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 500 };
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('Not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The calls without token requests. */
  get steps(): string[] {
    return this.calls
      .filter(({ path }) => !path.endsWith('/token'))
      .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
  }

  on(call: string, ...replies: Reply[]): this {
    this.replies.set(call, replies);
    return this;
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
}

export const rule = (name: string, priority: number, changed: object = {}): object => {
  const { description: _, ...properties } = securityRuleOf(SSH, MARK, priority);
  return { name, properties: { ...properties, provisioningState: 'Succeeded', ...changed } };
};
export const own = (name: string, priority: number, changed: object = {}): object =>
  rule(name, priority, { description: securityRuleOf(SSH, MARK, priority).description, ...changed });
export const refusal = (status: number, code: string): Reply => ({
  status,
  body: { error: { code, message: 'no' } },
});

export const LIST = 'GET nsg/securityRules';
export const PUT = `PUT securityRules/${NAME}`;
export const GET = `GET securityRules/${NAME}`;
export const DELETE = `DELETE securityRules/${NAME}`;

/** Response headers that point to an asynchronous operation. */
export const operationHeaders = (id: string, host: ScriptedAzure): Record<string, string> => ({
  'azure-asyncoperation': `${host.url}/operations/${id}`,
});

export const failure = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (error instanceof DriverError) return error;
  throw new Error(`Expected DriverError, got ${String(error)}`);
};

/** A driver with a scripted Azure, whose replies let one addition succeed. */
export class AzureFixture {
  private constructor(
    readonly azure: ScriptedAzure,
    /** a second host that must not be called */
    readonly elsewhere: ScriptedAzure,
    readonly driver: ProviderDriver,
  ) {}

  static async start(): Promise<AzureFixture> {
    const azure = new ScriptedAzure();
    const elsewhere = new ScriptedAzure();
    await Promise.all([azure.open(), elsewhere.open()]);
    const driver = createAzureDriver(
      { AZURE_AUTHORITY_HOST: azure.url, AZURE_RESOURCE_MANAGER_URL: `${azure.url}/` },
      { callTimeoutMs: 7000 },
    );
    azure
      .on('POST v2.0/token', { body: { access_token: 'a-token', expires_in: 3599, token_type: 'Bearer' } })
      .on(LIST, { body: { value: [] } })
      .on('GET Microsoft.Authorization/locks', { body: { value: [] } })
      .on(PUT, { status: 201, body: own(NAME, 1000), headers: operationHeaders('one', azure) })
      .on(GET, { body: own(NAME, 1000) })
      .on('GET operations/one', { body: { status: 'Succeeded' } });
    return new AzureFixture(azure, elsewhere, driver);
  }

  /** @returns the result of the first change */
  async apply(...changes: RuleChange[]): Promise<ChangeResult> {
    return (await this.driver.applyChanges(target(), changes))[0]!;
  }

  close(): Promise<unknown> {
    return Promise.all([this.azure.close(), this.elsewhere.close()]);
  }
}
