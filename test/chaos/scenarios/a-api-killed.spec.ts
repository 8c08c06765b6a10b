import { createServer, type Server, type Socket } from 'node:net';
import { historyOf } from '../../builders/sessions/cloud-history';
import { ownOrganization } from '../../builders/accounts/organization';
import { ApiClient, type Answer, type Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { HeldAnswers } from '../../harness/database/held-answers';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

describe('A. An API is killed with SIGKILL', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge);

  const watch = watchEachTest(() => drawbridge);

  const client = (api: AppProcess): ApiClient =>
    new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);

  const committed = (address: string): Promise<{ id: string }> =>
    until('the session is committed', async () => {
      const rows = await drawbridge.query<{ id: string }>('SELECT id FROM sessions WHERE ipv4_address = $1', [
        address,
      ]);
      return rows[0];
    });

  it('after the commit, before the wake-up: the session becomes ACTIVE [A5]', async () => {
    const redis = await SilentServer.listen();
    const api = await drawbridge.startApi({ REDIS_URL: redis.url });
    const { id } = await client(api).expect(
      200,
      client(api).post<Session>('/sessions', { ipv4Address: '203.0.113.1' }),
    );
    await api.stop('SIGKILL');
    expect(redis.wasContacted).toBe(true);
    await org.reaches(id, 'ACTIVE');
    await redis.close();
  });

  /** Starts a session through an API that is killed after the commit, before it can answer. */
  const startInDoubt = async (
    address: string,
    lastStatement: string,
    headers: Record<string, string> = {},
  ): Promise<{ id: string }> => {
    const connection = await HeldAnswers.to(drawbridge.databaseUrl);
    const api = await drawbridge.startApi({ DATABASE_URL: connection.url });
    const caller = client(api);
    await caller.expect(200, caller.get('/sessions'));
    connection.holdAfter(lastStatement);
    const answer = caller.post<Session>('/sessions', { ipv4Address: address }, headers).then(
      (received): Answer<Session> | 'inDoubt' => received,
      () => 'inDoubt' as const,
    );
    const session = await committed(address);
    await api.stop('SIGKILL');
    expect(await answer).toBe('inDoubt');
    await connection.close();
    return session;
  };

  it('after the commit, before the answer: a retry with the same Idempotency-Key gets the same session [A6]', async () => {
    const headers = { 'Idempotency-Key': 'killed-before-the-answer' };
    const { id } = await startInDoubt('203.0.113.2', 'COMMIT', headers);
    const again = await org.admin.post<Session>('/sessions', { ipv4Address: '203.0.113.2' }, headers);
    expect(again).toMatchObject({ status: 200, body: { id } });
    watch().keySent('killed-before-the-answer', '203.0.113.2', id);
    await org.reaches(id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { address: '203.0.113.2' })).toEqual(['opened']);
  });

  it('after the commit, before the answer: a retry without a key gets 409 with the existing session [A6]', async () => {
    const { id } = await startInDoubt('203.0.113.3', 'INTO sessions');
    const again = await org.admin.post<{ message: string }>('/sessions', { ipv4Address: '203.0.113.3' });
    expect(again.status).toBe(409);
    expect(JSON.stringify(again.body)).toContain(id);
    await org.reaches(id, 'ACTIVE');
  });
});

/** A server that accepts connections and never answers. */
class SilentServer {
  private readonly sockets: Socket[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<SilentServer> {
    const server: SilentServer = new SilentServer(createServer((socket) => server.sockets.push(socket)));
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    const address = this.server.address();
    return `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }

  get wasContacted(): boolean {
    return this.sockets.length > 0;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
