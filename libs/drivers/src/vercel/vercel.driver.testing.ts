import type { RuleSpec } from '#rules';
import type { CloudTarget, CloudDriver, RuleChange } from '../provider-driver';
import { duringTests, ScriptedApi, type Reply } from '../scripted-server.testing';
import { createVercelDriver } from './vercel.driver';
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

/** A fake Vercel: a route is a method and the last part of a path. */
const scriptedVercel = (): ScriptedApi =>
  duringTests(new ScriptedApi(({ method, path }) => `${method} ${path.split('/').at(-1)}`));

/** A driver with a scripted Vercel, which has the project and takes changes. */
export class VercelFixture {
  readonly vercel = scriptedVercel();

  /** For the tests of a block. */
  constructor() {
    beforeEach(() => {
      this.vercel.clear();
      this.vercel.on(WRITE, { body: {} }).on(FIND, { body: { id: PATH.projectId } });
    });
  }

  newDriver(): CloudDriver {
    return createVercelDriver({ VERCEL_API_URL: `${this.vercel.url}/` });
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
