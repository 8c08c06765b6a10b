import { randomUUID } from 'node:crypto';
import { REGISTERED } from '../../builders/sso/identity-providers';
import { organization, ownOrganization } from '../../builders/accounts/organization';
import type { ApiClient, Answer } from '../../harness/product/api-client';
import { documentedOperations, type DocumentedOperation } from '../../harness/contract/documented-operations';
import { Drawbridge } from '../../harness/product/drawbridge';

type Body = Record<string, unknown>;

interface Documented {
  readonly paths: Record<
    string,
    {
      readonly get?: {
        readonly parameters?: readonly { readonly name: string }[];
        readonly responses: Record<
          string,
          { content?: Record<string, { schema?: { type?: string; $ref?: string } }> }
        >;
      };
    }
  >;
}

const BODY_BYTES = 102_400;

describe('8 Limits', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let operator: ApiClient;
  let lists: DocumentedOperation[];

  beforeAll(async () => {
    const session = await org.started({ ipv4Address: '203.0.113.79' });
    await drawbridge.query(`UPDATE sessions SET status = 'CANCELLED' WHERE id = $1`, [session.id]);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    operator = org.admin;
    const webhook = await org.admin.created<{ id: string }>('/webhooks', { url: 'http://127.0.0.1:9/' });
    const provider = await org.admin.created<{ id: string }>('/identity-providers', REGISTERED);
    const operations = await documentedOperations(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`);
    const existing: Readonly<Record<string, string>> = {
      'GET /credentials/{id}/accounts': `/credentials/${org.credentialId}/accounts`,
      'GET /resources/{id}/events': `/resources/${org.resourceIds[0]}/events`,
      'GET /resources/{id}/people': `/resources/${org.resourceIds[0]}/people`,
      'GET /resources/{id}/rules': `/resources/${org.resourceIds[0]}/rules`,
      'GET /users/{id}/resources': `/users/${org.adminId}/resources`,
      'GET /sessions/{id}/events': `/sessions/${session.id}/events`,
      'GET /identity-providers/{id}/identities': `/identity-providers/${provider.id}/identities`,
      'GET /webhooks/{id}/deliveries': `/webhooks/${webhook.id}/deliveries`,
    };
    lists = operations
      .filter(({ parameters }) => parameters.includes('page'))
      .map((operation) => ({ ...operation, path: existing[operation.name] ?? operation.path }));
  });

  describe('pages', () => {
    it.each(['page=-1', 'page=one', 'page=1e300', 'size=0', 'size=101', 'size=2.5'])(
      '%s is refused with 400 by every list, naming the field',
      async (query) => {
        expect(lists.length).toBeGreaterThan(0);
        const [field] = query.split('=');
        for (const { name, path } of lists) {
          const { status, body } = await operator.get<Body>(`${path}?${query}`);
          expect([name, status]).toEqual([name, 400]);
          expect(body['message']).toMatch(new RegExp(`^${field} must be `));
        }
      },
    );

    it('size=100 is the maximum, accepted by every list', async () => {
      for (const { name, path } of lists) {
        const { status } = await operator.get(`${path}?page=0&size=100`);
        expect([name, status]).toEqual([name, 200]);
      }
    });

    it('a page beyond the last is empty, not an error, and has the total', async () => {
      for (const { name, path } of lists) {
        const { status, body, headers } = await operator.get<Body | unknown[]>(`${path}?page=9999`);
        const items = Array.isArray(body) ? body : body['content'];
        const total = Array.isArray(body) ? headers.get('X-Total-Count') : body['totalElements'];
        expect([name, status, items]).toEqual([name, 200, []]);
        expect(String(total)).toMatch(/^\d+$/);
      }
    });

    it('a list has its total and links to the adjacent pages', async () => {
      for (let count = 0; count < 5; count += 1) {
        await drawbridge.query(
          `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, expires_at)
           VALUES ($1, $2, $3, '203.0.113.80', now() + interval '1 hour')`,
          [org.organizationId, org.adminId, randomUUID()],
        );
      }
      const page = (number: number): Promise<Answer<unknown[]>> =>
        operator.get(`/sessions?size=2&page=${number}&active=true`);
      const [first, middle, last] = [await page(0), await page(1), await page(2)];
      expect([first, middle, last].map(({ body }) => body.length)).toEqual([2, 2, 1]);
      for (const { headers } of [first, middle, last]) expect(headers.get('X-Total-Count')).toBe('5');
      const link = (number: number, rel: string): string =>
        `</api/v1/sessions?size=2&page=${number}&active=true>; rel="${rel}"`;
      expect(first.headers.get('Link')).toBe(link(1, 'next'));
      expect(middle.headers.get('Link')).toBe(`${link(0, 'prev')}, ${link(2, 'next')}`);
      expect(last.headers.get('Link')).toBe(link(1, 'prev'));
    });
  });

  describe('lists', () => {
    it('every answer that is a list, or a Page, can be asked for in pages', async () => {
      const { paths } = await operator.expect(200, operator.get<Documented>('/openapi.json'));
      const unpaged = Object.entries(paths).flatMap(([path, { get }]) => {
        const schema = get?.responses['200']?.content?.['application/json']?.schema;
        const isList = schema?.type === 'array' || /Page/.test(schema?.$ref ?? '');
        const named = (get?.parameters ?? []).map(({ name }) => name);
        return isList && !(named.includes('page') && named.includes('size')) ? [path] : [];
      });
      // a report has a limit of its own; types and presets are as many as there are providers and CI systems, downloads as the
      // build makes: they grow with a release only
      expect(unpaged).toEqual([
        '/api/v1/oidc-trusts/presets',
        '/api/v1/reports/access',
        '/api/v1/resources/types',
        '/downloads',
      ]);
      expect(lists.length).toBeGreaterThan(10);
    });

    it('every plain list has its total, and a link to the next page only when there is one', async () => {
      for (const { name, path } of lists) {
        const { body, headers } = await operator.get<unknown[]>(`${path}?size=100`);
        if (!Array.isArray(body)) continue;
        expect([name, headers.get('X-Total-Count')]).toEqual([name, String(body.length)]);
        expect([name, headers.get('Link')]).toEqual([name, null]);
      }
    });

    it('a plain list has 100 items per page by default; GET /resources has all', async () => {
      const own = await organization(drawbridge);
      await drawbridge.query(
        `INSERT INTO roles (organization_id, name) SELECT $1, 'role ' || n FROM generate_series(1, 100) n`,
        [own.organizationId],
      );
      await drawbridge.query(
        `INSERT INTO resources SELECT (jsonb_populate_record(known, jsonb_build_object('id', gen_random_uuid()))).*
         FROM resources known, generate_series(1, 100) WHERE organization_id = $1`,
        [own.organizationId],
      );
      const roles = await own.admin.get<unknown[]>('/roles');
      expect(roles.body).toHaveLength(100);
      expect(roles.headers.get('X-Total-Count')).toBe('101');
      expect(roles.headers.get('Link')).toMatch(/page=1&size=100>; rel="next"$/);
      const resources = await own.admin.get<unknown[]>('/resources');
      expect([resources.body.length, resources.headers.get('Link')]).toEqual([101, null]);
      expect((await own.admin.get<unknown[]>('/resources?page=0')).body).toHaveLength(100);
    });
  });

  describe('bodies', () => {
    /** A login of exactly this many bytes. */
    const login = (bytes: number): string => {
      const frame = { email: 'ada@example.com', password: 'x', padding: '' };
      const padding = 'x'.repeat(bytes - JSON.stringify(frame).length);
      return JSON.stringify({ ...frame, padding });
    };

    it('a body of 100 kB is read', async () => {
      const { status } = await drawbridge.api.post('/auth/login', login(BODY_BYTES));
      expect(status).toBe(401);
    });

    it('one byte more is 413', async () => {
      const { status, body } = await drawbridge.api.post<Body>('/auth/login', login(BODY_BYTES + 1));
      expect(status).toBe(413);
      expect(body['message']).toBe('The body is larger than 100 kB');
    });
  });
});
