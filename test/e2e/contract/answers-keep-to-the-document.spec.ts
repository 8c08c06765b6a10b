import { ownOrganization } from '../../builders/accounts/organization';
import { publishedContract } from '../../harness/contract/published-contract';
import type { Exchange, OpenApiContract } from '../../harness/contract/openapi-contract';
import { LocalServer } from '../../harness/network/local-server';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

/** Spoiled answers, which the harness must notice. */
describe('Every answer a test gets is held against the OpenAPI document', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, []);
  let base: string;
  let contract: OpenApiContract;
  let genuine: Exchange;
  let role: object;

  beforeAll(async () => {
    base = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`;
    contract = publishedContract();
    const { status, headers, body } = await org.admin.get<object>(`/roles/${org.roleId}`);
    const path = `/api/v1/roles/${org.roleId}`;
    const contentType = headers.get('content-type');
    genuine = { method: 'GET', path, status, contentType, text: JSON.stringify(body) };
    role = body;
  });

  const answered = (change: Partial<Exchange>) => (): void => contract.check({ ...genuine, ...change });
  const withFields = (change: object) => answered({ text: JSON.stringify({ ...role, ...change }) });

  it('an honest one passes', () => {
    expect(answered({})).not.toThrow();
  });

  it('an undocumented status is reported with its operation', () => {
    expect(answered({ status: 418 })).toThrow(
      /GET \/api\/v1\/roles\/\{id\} answered 418, the document knows only 200, /,
    );
  });

  it.each([
    ['a missing field', { name: undefined }, /roles\/\{id\} answered 200 .*\n.*required property 'name'/],
    ['an undocumented field', { passwordHash: 'x' }, /answered 200 .*\n.*additional.*passwordHash/],
    ['a field of another type', { id: 7 }, /\/id must be string/],
    ['one of another format', { createdAt: 'today' }, /\/createdAt must match format "date-time"/],
  ])('%s is named', (_, change, words) => {
    expect(withFields(change)).toThrow(words);
  });

  it('another content type, and no body at all, are noticed', () => {
    const asPage = answered({ contentType: 'text/html' });
    expect(asPage).toThrow(/as text\/html, the document says application\/json/);
    expect(answered({ text: '' })).toThrow(/no JSON/);
  });

  it('what is no documented operation may only be refused, in a shape of the service', async () => {
    expect((await org.admin.get('/nothing-here')).status).toBe(404);
    expect((await org.admin.send('PUT', `/roles/${org.roleId}`)).status).toBe(405);
    const path = '/api/v1/nothing-here';
    const text = '{"statusCode":404,"message":"Cannot GET /nothing-here"}';
    expect(answered({ path, status: 404, text })).toThrow(/no documented operation/);
    expect(answered({ path, text: '{}' })).toThrow(/no documented operation/);
  });

  it('the client of the tests does so', async () => {
    const document = await (await fetch(`${base}/openapi.json`)).text();
    const spoiling = await LocalServer.start(({ path }) => ({
      body: path.endsWith('/openapi.json') ? document : JSON.stringify(role),
    }));
    const client = new ApiClient(`${spoiling.url}/api/v1`);
    await expect(client.get(`/roles/${org.roleId}`)).rejects.toThrow(/answered 200 as nothing/);
    await spoiling.stop();
  });
});
