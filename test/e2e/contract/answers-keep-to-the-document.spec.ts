import { createServer, type Server } from 'node:http';
import { ownOrganization } from '../../builders/accounts/organization';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

type Tamper = (answer: { status: number; body: Record<string, unknown> }) => {
  status: number;
  body?: unknown;
  type?: string;
};

/** The API behind a proxy that spoils its answers: what the harness must notice. */
describe('Every answer a test gets is held against the OpenAPI document', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, []);
  let proxy: Server;
  let client: ApiClient;
  let tamper: Tamper = (answer) => answer;

  beforeAll(async () => {
    const api = `http://127.0.0.1:${drawbridge.apiServer.port}`;
    proxy = createServer((asked, response) => {
      void (async () => {
        const headers = asked.headers.authorization ? { Authorization: asked.headers.authorization } : {};
        const genuine = await fetch(api + asked.url, { method: asked.method ?? 'GET', headers });
        const answer = { status: genuine.status, body: (await genuine.json()) as Record<string, unknown> };
        const document = asked.url?.endsWith('/openapi.json');
        const { status, body, type } = document
          ? { ...answer, type: undefined }
          : { type: undefined, ...tamper(answer) };
        response.writeHead(status, { 'Content-Type': type ?? 'application/json; charset=utf-8' });
        response.end(body === undefined ? '' : JSON.stringify(body));
      })();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    client = new ApiClient(`http://127.0.0.1:${port}/api/v1`).as(org.admin.identity);
  });
  afterAll(() => {
    proxy.close();
  });

  const role = (spoil: Tamper): Promise<unknown> => {
    tamper = spoil;
    return client.get(`/roles/${org.roleId}`);
  };

  it('an honest one passes', async () => {
    await expect(role((answer) => answer)).resolves.toMatchObject({ status: 200 });
  });

  it('an undocumented status is reported with its operation', async () => {
    await expect(role(({ body }) => ({ status: 418, body }))).rejects.toThrow(
      /GET \/api\/v1\/roles\/\{id\} answered 418, the document knows only 200, /,
    );
  });

  it('a missing field is named', async () => {
    await expect(
      role(({ status, body }) => ({ status, body: { ...body, name: undefined } })),
    ).rejects.toThrow(/roles\/\{id\} answered 200 .*\n.*must have required property 'name'/);
  });

  it('an undocumented field is reported', async () => {
    await expect(
      role(({ status, body }) => ({ status, body: { ...body, passwordHash: 'x' } })),
    ).rejects.toThrow(/roles\/\{id\} answered 200 .*\n.*additional.*passwordHash/);
  });

  it('a field of another type or format is named', async () => {
    await expect(role(({ status, body }) => ({ status, body: { ...body, id: 7 } }))).rejects.toThrow(
      /\/id must be string/,
    );
    await expect(
      role(({ status, body }) => ({ status, body: { ...body, createdAt: 'today' } })),
    ).rejects.toThrow(/\/createdAt must match format "date-time"/);
  });

  it('another content type, and no body at all, are noticed', async () => {
    await expect(role(({ status, body }) => ({ status, body, type: 'text/html' }))).rejects.toThrow(
      /as text\/html, the document says application\/json/,
    );
    await expect(role(({ status }) => ({ status }))).rejects.toThrow(/no JSON/);
  });

  it('what is no documented operation may only be refused, in a shape of the service', async () => {
    tamper = (answer) => answer;
    await expect(client.get('/nothing-here')).resolves.toMatchObject({ status: 404 });
    await expect(client.send('PUT', `/roles/${org.roleId}`)).resolves.toMatchObject({ status: 405 });
    tamper = () => ({ status: 404, body: { statusCode: 404, message: 'Cannot GET /nothing-here' } });
    await expect(client.get('/nothing-here')).rejects.toThrow(/no documented operation/);
    tamper = () => ({ status: 200, body: {} });
    await expect(client.get('/nothing-here')).rejects.toThrow(/no documented operation/);
  });
});
