import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { guardedHost, type GuardedHost } from '../builders/resources/agents';
import { organization, type Organization } from '../builders/accounts/organization';
import type { Answer, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const HOSTILE = 60;

describe('One tenant does not slow another', () => {
  // as shipped: hashes take a quarter of a second
  const drawbridge = Drawbridge.own({ worker: false, api: { PASSWORD_HASH_COST: '12' } });
  let victim: Organization;
  let hostile: Organization;
  let host: GuardedHost;
  /** its transaction holds locks that requests wait for, until it is rolled back */
  let blocker: Client;

  beforeAll(async () => {
    victim = await organization(drawbridge);
    hostile = await organization(drawbridge, []);
    host = await guardedHost(hostile, 'gateway');
    await host.agent().turn();
    blocker = new Client({ connectionString: drawbridge.ownerUrl });
    await blocker.connect();
  });
  afterAll(() => blocker.end());
  afterEach(() => blocker.query('ROLLBACK'));

  const blocked = async (lock: string): Promise<void> => {
    await blocker.query('BEGIN');
    await blocker.query(lock);
  };
  const started = (address: string): Promise<Session> =>
    victim.started({ ipv4Address: address, leaseSeconds: 60 });
  /** The statuses of a renewal and a stop. */
  const renewedAndStopped = async ({ id }: Session): Promise<number[]> => {
    const renewal = await victim.admin.post(`/sessions/${id}/renew`);
    const stop = await victim.admin.post(`/sessions/${id}/stop`);
    return [renewal.status, stop.status];
  };

  it.each(['state', 'report'])(
    'while 60 requests for the %s of one host hang, everybody else starts, renews and stops sessions',
    async (kind) => {
      await blocked(`SELECT FROM agents WHERE name = 'gateway' FOR UPDATE`);
      const agent = host.agent();
      const answers: Answer<object>[] = [];
      const sent = Array.from({ length: HOSTILE }, async () => {
        answers.push(await (kind === 'state' ? agent.ask() : agent.report('1', [])));
      });
      const withStatus = (wanted: number): Answer<object>[] =>
        answers.filter(({ status }) => status === wanted);
      expect(await renewedAndStopped(await started('203.0.113.7'))).toEqual([200, 200]);
      // one is served and one waits for it
      await until('the others are refused', () => Promise.resolve(withStatus(429).length === HOSTILE - 2));
      expect(withStatus(429)[0]!.headers.get('retry-after')).toMatch(/^\d+$/);
      await until('the first one waits no longer', () => Promise.resolve(withStatus(503).length === 1));
      await blocker.query('ROLLBACK');
      await Promise.all(sent);
      expect(withStatus(200)).toHaveLength(1);
    },
  );

  it('sessions are renewed and stopped while every other connection to the database is in use', async () => {
    const session = await started('203.0.113.8');
    // which neither renewals nor stops read
    await blocked('LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE');
    const lists = Array.from({ length: HOSTILE }, () => hostile.admin.get('/webhooks'));
    expect(await renewedAndStopped(session)).toEqual([200, 200]);
    await blocker.query('ROLLBACK');
    await Promise.all(lists);
  });

  it('sign-ins whose clients are gone leave the queue and count for nothing, and a full queue answers 503', async () => {
    const gone = new AbortController();
    const mark = randomUUID();
    const signIn = (index: number): Promise<Answer> =>
      drawbridge.api.send(
        'POST',
        '/auth/login',
        { email: `${index}-${mark}@example.com`, password: 'wrong' },
        { 'X-Forwarded-For': '198.51.100.1' },
        gone.signal,
      );
    const signIns = Array.from({ length: 2 * HOSTILE }, (_, index) => signIn(index));
    let compared = 0;
    for (const one of signIns)
      one.then(
        ({ status }) => (compared += status === 401 ? 1 : 0),
        () => undefined,
      );
    const busy = await Promise.any(
      signIns.map(async (answer) => {
        const { status, headers } = await answer;
        if (status !== 503) throw new Error(`answered ${status}`);
        return headers;
      }),
    );
    expect(busy.get('retry-after')).toMatch(/^\d+$/);
    // 50 wait; somebody elsewhere does not wait for all of them
    const elsewhere = { email: victim.adminEmail, password: 'wrong' };
    const before = compared;
    expect((await drawbridge.api.post('/auth/login', elsewhere)).status).toBe(401);
    expect(compared - before).toBeLessThan(25);
    gone.abort();
    await until('attempts that were not made are not counted', async () => {
      const [{ failures }] = (await drawbridge.query<{ failures: number }>(
        `SELECT coalesce(sum(failures), 0)::int AS failures FROM sign_in_failures WHERE account_key LIKE '%' || $1 || '%'`,
        [mark],
      )) as [{ failures: number }];
      // the last ones were being compared
      return failures <= compared + 2;
    });
  });
});
