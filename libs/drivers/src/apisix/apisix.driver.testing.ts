import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ruleKey, type ChangeResult } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, RuleChange } from '../provider-driver';

export const ADMIN_KEY = 'a-key-of-the-tenant';
export const LIST_PATH = '/apisix/admin/routes/r1/plugins/ip-restriction/whitelist';

interface Call {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: string;
}
export type Respond = (call: Call, response: ServerResponse) => void;

export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
export const route = (plugins: unknown, key = '/apisix/routes/r1'): unknown => ({
  key,
  value: { id: 'r1', uri: '/*', plugins },
  createdIndex: 1,
  modifiedIndex: 2,
});
export const listed = (...whitelist: unknown[]): unknown => route({ 'ip-restriction': { whitelist } });

export const add = (address: string): RuleChange => ({
  action: 'add',
  ruleId: `rule of ${address}`,
  spec: { address, protocol: 'all', ports: [] },
  mark: { deployment: 'd', ruleId: `rule of ${address}`, expiresAt: null },
  config: {},
});
export const remove = (address: string): RuleChange => ({
  action: 'remove',
  ruleId: `rule of ${address}`,
  providerRuleId: `routes/r1#${address}`,
});
export const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((one) => (one.result === 'refused' ? one.kind : one.result));
export const thrown = async (call: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (error instanceof DriverError) return error;
  throw new Error(`Expected DriverError, got ${String(error)}`);
};

/** A gateway whose Admin API responds as scripted. Records its calls. */
export class ScriptedGateway {
  calls: Call[] = [];
  /** the loaded plugins, responded outside the script and not recorded; null: the script responds */
  plugins: string[] | null = ['ip-restriction'];
  /** the values of other objects by collection, responded like the plugins */
  others: Readonly<Record<string, readonly object[]>> = {};
  respond: Respond = (_, response) => json(response, 500, {});
  private readonly server: Server = createServer((request, response) => void this.receive(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The lists that were written. */
  get written(): unknown[] {
    return this.calls
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => JSON.parse(body) as unknown);
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

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const key = request.headers['x-api-key'] as string | undefined;
    const call = { method: request.method ?? '', url: request.url ?? '', key, body };
    if (this.plugins && call.url.endsWith('/plugins/list')) return json(response, 200, this.plugins);
    const [, collection] = /\/(\w+)\?page=/.exec(call.url) ?? [];
    if (collection !== undefined) {
      const list = (this.others[collection] ?? []).map((value) => ({ key: '/apisix/other', value }));
      return json(response, 200, { list, total: list.length });
    }
    this.calls.push(call);
    this.respond(call, response);
  }
}

/** A gateway that stores its list. @param after called after each call with the list, which it may change */
export const storing = (
  whitelist: string[],
  after: (call: Call, list: string[]) => void = () => undefined,
): Respond => {
  const list = [...whitelist];
  return (call, response) => {
    if (call.method === 'PATCH') list.splice(0, list.length, ...(JSON.parse(call.body) as string[]));
    json(response, 200, listed(...list));
    after(call, list);
  };
};

/** @param claimed addresses of rules that the database claims */
export const routeTarget = (
  adminUrl: string,
  claimed: readonly string[] = [],
  changed: Partial<CloudTarget> = {},
): CloudTarget => ({
  resourceType: 'ROUTE',
  identifier: 'r1',
  region: null,
  credential: {
    credentialType: 'ADMIN_KEY',
    data: { adminUrl, adminKey: ADMIN_KEY },
    externalId: null,
    identity: null,
  },
  deployment: 'd',
  claims: new Map(
    claimed.map((address) => [ruleKey({ address, protocol: 'all', ports: [] }), `rule of ${address}`]),
  ),
  ...changed,
});
