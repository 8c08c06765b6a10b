import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, RuleChange } from '../provider-driver';
import { guardRule } from './guard';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
export const TOKEN = 'the-vercel-token';
const PATH = { projectId: 'prj_one', hostname: null, pathPrefix: null };
export const ADDRESS = '203.0.113.7/32';

export const target = (data: Readonly<Record<string, string>> = {}): CloudTarget => ({
  resourceType: 'FIREWALL_RULE',
  identifier: PATH.projectId,
  region: null,
  credential: { credentialType: 'TOKEN', data: { token: TOKEN, ...data }, externalId: null, identity: null },
  deployment: 'prod',
  claims: new Map(),
});
const spec = (address = ADDRESS): RuleSpec => ({ address, protocol: 'all', ports: [] });
export const add = (address = ADDRESS): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec: spec(address),
  mark: { deployment: 'prod', ruleId: RULE_ID, expiresAt: null },
  config: {},
});
export const remove = (address = ADDRESS): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId: `rule_one#${address}`,
});

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** a string is sent unchanged, other values as JSON */
  readonly body?: unknown;
  /** no response is sent */
  readonly silent?: true;
}

/** A fake Vercel: returns the scripted replies of a path in order and repeats the last one. Records its calls. */
export class ScriptedVercel {
  readonly calls: Call[] = [];
  private readonly replies = new Map<string, Reply[]>();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      this.calls.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const queue = this.replies.get(`${method} ${url.split('?')[0]!.split('/').at(-1)}`) ?? [];
      const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 500 };
      if (reply.silent) return;
      const { status = 200, body = {} } = reply;
      response.writeHead(status, { 'content-type': 'application/json', ...reply.headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('Not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  get steps(): string[] {
    return this.calls.map(({ method, url }) => `${method} ${url.split('?')[0]!.split('/').at(-1)}`);
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

export const guard = (addresses: readonly string[], changed: object = {}, id = 'rule_one'): object => ({
  ...guardRule(PATH, 'prod', addresses),
  id,
  valid: true,
  ...changed,
});
export const config = (...rules: object[]): Reply => ({ body: { firewallEnabled: true, rules } });
export const refusal = (status: number, code: string, message = 'no'): Reply => ({
  status,
  body: { error: { code, message } },
});
export const READ = 'GET active';
export const WRITE = 'PATCH config';
export const FIND = 'GET prj_one';

export const failure = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (error instanceof DriverError) return error;
  throw new Error(`Expected DriverError, got ${String(error)}`);
};
