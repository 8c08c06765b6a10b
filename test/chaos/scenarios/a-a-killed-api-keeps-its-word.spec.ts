import { createServer, type Server, type Socket } from 'node:net';
import { historyOf } from '../../builders/cloud-history';
import { group, organization, type Organization } from '../../builders/organization';
import { ApiClient, type Answer, type Session } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { HeldAnswers } from '../../harness/held-answers';
import type { AppProcess } from '../../harness/processes';
import { until } from '../../harness/until';
import { judged } from './judged';

describe('A. An API killed with SIGKILL keeps its word', () => {
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(() => drawbridge.stop());
  const watch = judged(() => drawbridge);

  const client = (api: AppProcess): ApiClient =>
    new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);

  const committed = (address: string): Promise<{ id: string }> =>
    until('the session is committed', async () => {
      const rows = await drawbridge.query<{ id: string }>('SELECT id FROM sessions WHERE ipv4_address = $1', [
        address,
      ]);
      return rows[0];
    });

  it('after the session was written, before any worker was woken: ACTIVE all the same [A5]', async () => {
    const silent = await Silence.listen();
    const api = await drawbridge.startApi({ REDIS_URL: silent.url });
    const { id } = await client(api).expect(
      200,
      client(api).post<Session>('/sessions', { ipv4Address: '203.0.113.1' }),
    );
    await api.stop('SIGKILL');
    expect(silent.wasAsked).toBe(true);
    await org.reaches(id, 'ACTIVE', 8000);
    await silent.close();
  });

  /** Starts a session through an API that is killed after the commit, before it can answer. */
  const startInDoubt = async (
    address: string,
    lastWords: string,
    headers: Record<string, string> = {},
  ): Promise<{ id: string }> => {
    const way = await HeldAnswers.to(drawbridge.databaseUrl);
    const api = await drawbridge.startApi({ DATABASE_URL: way.url });
    const through = client(api);
    await through.expect(200, through.get('/sessions'));
    way.holdAfter(lastWords);
    const answer = through.post<Session>('/sessions', { ipv4Address: address }, headers).then(
      (heard): Answer<Session> | 'inDoubt' => heard,
      () => 'inDoubt' as const,
    );
    const session = await committed(address);
    await api.stop('SIGKILL');
    expect(await answer).toBe('inDoubt');
    await way.close();
    return session;
  };

  it('after the commit, before the answer: the same key gets the same session [A6]', async () => {
    const headers = { 'Idempotency-Key': 'killed-before-the-answer' };
    const { id } = await startInDoubt('203.0.113.2', 'COMMIT', headers);
    const again = await org.admin.post<Session>('/sessions', { ipv4Address: '203.0.113.2' }, headers);
    expect(again).toMatchObject({ status: 200, body: { id } });
    watch().keySent('killed-before-the-answer', '203.0.113.2', id);
    await org.reaches(id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { address: '203.0.113.2' })).toEqual(['opened']);
  });

  it('without a key the second try is told of the session that stands [A6]', async () => {
    const { id } = await startInDoubt('203.0.113.3', 'INTO sessions');
    const again = await org.admin.post<{ message: string }>('/sessions', { ipv4Address: '203.0.113.3' });
    expect(again.status).toBe(409);
    expect(JSON.stringify(again.body)).toContain(id);
    await org.reaches(id, 'ACTIVE');
  });
});

/** A server that takes connections and never says a word. */
class Silence {
  private readonly sockets: Socket[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<Silence> {
    const silence: Silence = new Silence(createServer((socket) => silence.sockets.push(socket)));
    await new Promise<void>((resolve) => silence.server.listen(0, '127.0.0.1', resolve));
    return silence;
  }

  get url(): string {
    const address = this.server.address();
    return `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }

  get wasAsked(): boolean {
    return this.sockets.length > 0;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
