import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, type Api } from './api';
import { ApiFailure, Unreachable } from './failure';
import { stopSession } from './leased-session';
import { pauseAfter } from './sending';

const ID = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const LONG_MS = 60_000;

const json = (answer: ServerResponse, status: number, body: object): unknown =>
  answer.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const stopped = (answer: ServerResponse): unknown => json(answer, 200, { id: ID, status: 'EXPIRING' });

describe('What ends access', () => {
  let server: Server;
  let api: Api;
  let asked: string[];
  /** of the requests in turn; the last one is that of all others */
  let answers: ((answer: ServerResponse) => unknown)[];

  beforeEach(async () => {
    asked = [];
    server = createServer(({ method, url }, answer) => {
      const next = answers.length > 1 ? answers.shift()! : answers[0]!;
      asked.push(`${method} ${url}`);
      next(answer);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    api = createApi({ url: `http://127.0.0.1:${port}`, credential: null });
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it.each([
    ['a connection that is closed', (answer: ServerResponse) => answer.destroy()],
    [
      'half an answer',
      (answer: ServerResponse) => {
        answer.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 }).write('{');
        setImmediate(() => answer.destroy());
      },
    ],
    [
      'a failure of the server',
      (answer: ServerResponse) => json(answer, 500, { error: 'INTERNAL', message: 'x' }),
    ],
    [
      'a page of a proxy',
      (answer: ServerResponse) => answer.writeHead(502, { 'Content-Type': 'text/html' }).end(),
    ],
    [
      '404 of a proxy',
      (answer: ServerResponse) => answer.writeHead(404, { 'Content-Type': 'text/plain' }).end('no'),
    ],
    [
      '400 of a proxy',
      (answer: ServerResponse) => answer.writeHead(400, { 'Content-Type': 'text/html' }).end('no'),
    ],
  ])('takes %s for no answer', async (_, lacking) => {
    answers = [lacking, lacking, stopped];
    expect(await stopSession(api, ID, LONG_MS)).toMatchObject({ id: ID });
    expect(asked).toHaveLength(3);
  });

  it('gives up when the caller can wait no longer, also for a server that accepts and never answers', async () => {
    answers = [() => undefined];
    const failure: unknown = await stopSession(api, ID, 300).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Unreachable);
    expect(asked).toHaveLength(1);
  });

  it('is tried again after longer and longer pauses, and at once after an answer was waited for as long', () => {
    expect([1, 2, 3, 9].map((unanswered) => pauseAfter(unanswered, 0))).toEqual([250, 500, 1000, 5000]);
    expect([1, 9].map((unanswered) => pauseAfter(unanswered, 8000))).toEqual([0, 0]);
  });

  it('is refused at once by an answer of the server', async () => {
    answers = [(answer) => json(answer, 403, { error: 'Forbidden', message: 'not yours' })];
    await expect(stopSession(api, ID, LONG_MS)).rejects.toBeInstanceOf(ApiFailure);
    expect(asked).toHaveLength(1);
  });

  it('was deleted by an attempt without an answer, when there is nothing any more', async () => {
    const params = { path: { id: ID } };
    const missing = (answer: ServerResponse): unknown =>
      json(answer, 404, { error: 'NOT_FOUND', message: 'none' });
    answers = [missing];
    await expect(api.DELETE('/api/v1/static-ip-rules/{id}', { params })).rejects.toThrow('none');
    answers = [(answer) => answer.destroy(), missing];
    expect((await api.DELETE('/api/v1/static-ip-rules/{id}', { params })).response.status).toBe(204);
  });

  it('lifting a lockdown is none of it', async () => {
    answers = [(answer) => answer.destroy()];
    await expect(api.DELETE('/api/v1/organization/lockdown')).rejects.toBeInstanceOf(Unreachable);
    expect(asked).toHaveLength(1);
  });
});
