import {
  furnishedOrganization,
  readablePaths,
  type FurnishedOrganization,
} from '../../builders/console/furnished-organization';
import { group } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const CAMEL_CASE = /^[a-z][a-zA-Z0-9]*$/;
/** Names that end in Id and are the cloud's, or the issuer's. */
const OF_OTHERS = new Set(['providerRuleId', 'accessKeyId', 'externalId', 'clientId']);

interface Field {
  readonly where: string;
  readonly name: string;
  readonly value: unknown;
}

/** Every field of a body, however deep. */
const fieldsOf = (where: string, body: unknown): Field[] => {
  if (Array.isArray(body)) return body.flatMap((item) => fieldsOf(where, item));
  if (body === null || typeof body !== 'object') return [];
  return Object.entries(body).flatMap(([name, value]) => [
    { where, name, value: value as unknown },
    ...fieldsOf(`${where} ${name}`, value),
  ]);
};

/** Claims of ID tokens have the names that their issuers give them. */
const CLAIMS = ' conditions';

describe('2 Conventions', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let org: FurnishedOrganization;
  const fields: Field[] = [];
  const contentTypes = new Set<string | null>();

  beforeAll(async () => {
    org = await furnishedOrganization(drawbridge, { group: group(0), config: { port: 22 } }, '203.0.113.1');
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    for (const path of await readablePaths(org)) {
      const asked = org.admin.get(path);
      fields.push(...fieldsOf(path, await org.admin.expect(200, asked)));
      contentTypes.add((await asked).headers.get('Content-Type'));
    }
  });

  const named = (pattern: RegExp): Field[] =>
    fields.filter(({ name, value }) => pattern.test(name) && value !== null);

  it('identifiers are UUIDs of version 4, wherever they are', () => {
    const ids = named(/^id$|Id$/).filter(({ name }) => !OF_OTHERS.has(name));
    expect(new Set(ids.map(({ where }) => where.split(' ')[0])).size).toBeGreaterThan(15);
    expect(ids.filter(({ value }) => !UUID_V4.test(String(value)))).toEqual([]);
    // a list, or what a record says that it was and became
    const lists = named(/Ids$/).flatMap(({ value }) => Object.values(value as object).flat() as unknown[]);
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.filter((id) => !UUID_V4.test(String(id)))).toEqual([]);
  });

  it('timestamps are ISO 8601 in UTC, wherever they are', () => {
    const times = named(/At$|^timestamp$|^currentPeriod|^gracePeriodEnd$/);
    expect(times.length).toBeGreaterThan(20);
    expect(times.filter(({ value }) => !UTC.test(String(value)))).toEqual([]);
  });

  it('field names are camelCase', () => {
    expect(fields.length).toBeGreaterThan(200);
    const ours = fields.filter(({ where }) => !where.endsWith(CLAIMS) && !where.endsWith(' labels'));
    expect(ours.filter(({ name }) => !CAMEL_CASE.test(name))).toEqual([]);
  });

  it('answers are JSON, and the export is lines of it', () => {
    expect(contentTypes).toEqual(new Set(['application/json; charset=utf-8', 'application/x-ndjson']));
  });

  it('a region that is not set is absent, not null', async () => {
    const path = `/resources/${org.resourceIds[0]}`;
    expect((await org.admin.get(path)).body).toHaveProperty('region', 'eu-central-1');
    await drawbridge.query('UPDATE resources SET region = NULL WHERE id = $1', [org.resourceIds[0]]);
    expect((await org.admin.get(path)).body).not.toHaveProperty('region');
    expect((await org.admin.get<object[]>('/resources')).body[0]).not.toHaveProperty('region');
  });
});
