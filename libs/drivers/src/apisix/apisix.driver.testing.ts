import type { ServerResponse } from 'node:http';
import { ruleKey } from '#rules';
import type { CloudDriver, CloudTarget, RuleChange } from '../provider-driver';
import {
  duringTests,
  kinds,
  type Respond,
  type ScriptedCall,
  ScriptedServer,
} from '../scripted-server.testing';
import { createApisixDriver } from './apisix.driver';

export const ADMIN_KEY = 'a-key-of-the-tenant';

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
/** A gateway whose Admin API responds as scripted. */
class ScriptedGateway extends ScriptedServer {
  /** the loaded plugins, responded outside the script and not recorded; null: the script responds */
  plugins: string[] | null = ['ip-restriction'];
  /** the values of other objects by collection, responded like the plugins */
  others: Readonly<Record<string, readonly object[]>> = {};

  constructor() {
    super((_, response) => json(response, 500, {}));
  }

  /** The lists that were written. */
  get written(): unknown[] {
    return this.calls
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => JSON.parse(body) as unknown);
  }

  protected override receive(call: ScriptedCall, response: ServerResponse): void {
    if (this.plugins && call.path.endsWith('/plugins/list')) return json(response, 200, this.plugins);
    if (!call.query.has('page')) return super.receive(call, response);
    const collection = call.path.split('/').at(-1)!;
    const list = (this.others[collection] ?? []).map((value) => ({ key: '/apisix/other', value }));
    return json(response, 200, { list, total: list.length });
  }
}

/** A gateway that stores its list. @param after called after each call with the list, which it may change */
export const storing = (
  whitelist: string[],
  after: (call: ScriptedCall, list: string[]) => void = () => undefined,
): Respond => {
  const list = [...whitelist];
  return (call, response) => {
    if (call.method === 'PATCH') list.splice(0, list.length, ...(JSON.parse(call.body) as string[]));
    json(response, 200, listed(...list));
    after(call, list);
  };
};

/** @param claimed addresses of rules that the database claims */
const routeTarget = (
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

export const ADDRESS = '203.0.113.7/32';
export const asked = { whitelist: ['0.0.0.0/32', ADDRESS] };
/** An object with the list, unless plugins are given in place of it or beside it; the key may write. */
export const holding =
  (collection: string, plugins: object = {}): Respond =>
  (call, response) =>
    call.url.includes('/drawbridge-')
      ? json(response, 404, { message: 'Key not found' })
      : json(response, 200, route({ 'ip-restriction': asked, ...plugins }, `/apisix/${collection}/r1`));

export interface ScriptedApisix {
  readonly gateway: ScriptedGateway;
  readonly driver: CloudDriver;
  readonly target: (claimed?: readonly string[], changed?: Partial<CloudTarget>) => CloudTarget;
  /** @returns the result of each change, a refusal as its kind */
  readonly apply: (changes: readonly RuleChange[], claimed?: readonly string[]) => Promise<string[]>;
}

/** A driver and its gateway for the tests of a `describe`: without a script, nothing is loaded but the plugin. */
export function apisixDuringTests(): ScriptedApisix {
  const gateway = duringTests(new ScriptedGateway());
  const driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  beforeEach(() => {
    gateway.plugins = ['ip-restriction'];
    gateway.others = {};
  });
  const target: ScriptedApisix['target'] = (claimed, changed) => routeTarget(gateway.url, claimed, changed);
  return {
    gateway,
    driver,
    target,
    apply: async (changes, claimed) => kinds(await driver.applyChanges(target(claimed), changes)),
  };
}
