import { DriverRegistry, type RuleChange } from '#drivers';
import { simulatedObjects } from '../builders/resources/driver-load';
import { LocalServer } from '../harness/network/local-server';
import { addition, allOf } from './driver-actions';
import { SimulatedCloud } from './simulated-cloud';

/** The fields of Atlas' OpenAPI document (version 2023-01-01) and their types; `!`: always there. */
const ENTRY = {
  awsSecurityGroup: 'string',
  cidrBlock: 'string',
  comment: 'string',
  deleteAfterDate: 'string',
  groupId: 'string',
  ipAddress: 'string',
  links: 'list',
};
const PAGE = { links: 'list', results: 'list', totalCount: 'number' };
const STATUS = { STATUS: 'string!' };
const FAILURE = {
  badRequestDetail: 'object',
  detail: 'string',
  error: 'number!',
  errorCode: 'string!',
  parameters: 'list',
  reason: 'string',
};
/** Clients may not send them. */
const READ_ONLY = ['groupId', 'links'];

/** What of an object is not as the document says. */
function strange(fields: Readonly<Record<string, string>>, given: unknown): string[] {
  const object = given as Record<string, unknown>;
  const typeOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);
  const wrong = Object.entries(object).filter(
    ([name, value]) => fields[name]?.replace('!', '') !== typeOf(value),
  );
  const absent = Object.keys(fields).filter((name) => fields[name]!.endsWith('!') && !(name in object));
  return [...wrong.map(([name]) => name), ...absent.map((name) => `no ${name}`)];
}

describe('Fields of Atlas’ document', () => {
  let cloud: SimulatedCloud;
  let proxy: LocalServer;
  const answers: { readonly path: string; readonly status: number; readonly body: string }[] = [];

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('ATLAS', { read: [], add: [], remove: [] }, 2);
    proxy = await LocalServer.start(async ({ method, path, headers, body }) => {
      const { host: _, 'content-length': _length, connection: _kept, ...sent } = headers;
      const answer = await fetch(cloud.url + path, {
        method,
        headers: sent as Record<string, string>,
        ...(body !== '' && { body }),
      });
      const text = await answer.text();
      answers.push({ path, status: answer.status, body: text });
      return { status: answer.status === 204 ? 200 : answer.status, body: text };
    });
  });
  afterAll(async () => {
    await proxy.stop();
    await cloud.close();
  });

  it('are those that the driver sends and the simulated cloud answers', async () => {
    const driver = await new DriverRegistry({ ATLAS_URL: `${proxy.url}/atlas` }).driverFor(
      'ATLAS',
      'PROJECT',
    );
    const ruleId = '00000000-0000-4000-8000-000000000009';
    const target = {
      ...simulatedObjects('').ATLAS,
      claims: new Map([['203.0.113.1/32 all *', ruleId]]),
    };
    const add = (address: string): RuleChange => ({
      ...addition(allOf(address), ruleId, 'test'),
      endsAt: Math.floor(Date.now() / 1000) + 3600,
    });
    await driver.applyChanges(target, [add('203.0.113.1/32')]);
    await driver.readRules(target);
    await driver.applyChanges(target, [add('203.0.113.2/32'), add('203.0.113.3/32')]);
    await driver.readRules({ ...target, identifier: 'f'.repeat(24) }).catch(() => null);
    const bodies = answers
      .filter(({ path }) => !path.includes('oauth'))
      .map((one) => ({ ...one, json: JSON.parse(one.body) as object }));
    const kinds = bodies.map(({ path, status, json }) => {
      const fields = status >= 400 ? FAILURE : path.endsWith('/status') ? STATUS : PAGE;
      const entries = 'results' in json ? (json.results as unknown[]) : [];
      expect([path, strange(fields, json), entries.map((entry) => strange(ENTRY, entry))]).toEqual([
        path,
        [],
        entries.map(() => []),
      ]);
      return fields;
    });
    expect(new Set(kinds)).toEqual(new Set([PAGE, STATUS, FAILURE]));
    const sent = proxy.requests.flatMap(({ path, method, body }) =>
      method === 'POST' && path.endsWith('/accessList') ? (JSON.parse(body) as object[]) : [],
    );
    expect(sent.length).toBeGreaterThan(2);
    for (const entry of sent) {
      expect(strange(ENTRY, entry)).toEqual([]);
      expect(Object.keys(entry).filter((name) => READ_ONLY.includes(name))).toEqual([]);
    }
  });
});
