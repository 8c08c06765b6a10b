import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiFailure } from '../../builders/accounts/accounts';
import { colleague, type Colleague } from '../../builders/accounts/colleague';
import { lacksScope } from '../../builders/contract/missing-scope';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import {
  freshAddress,
  LIVE,
  NOT_LIVE,
  putInStatus,
  sessionInStatus,
} from '../../builders/sessions/session-in-status';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { matching } from '../../harness/matching';

/** The maximum wait: an answer before its end did not wait for it. */
const LONG_SECONDS = 30;

describe('4.2 Sessions: reading them', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, [{ group: group(0) }, { group: group(1) }]);
  const other = ownOrganization(drawbridge, [{ group: group(2) }]);
  let user: Colleague;

  beforeAll(async () => {
    // no worker: a session has the status the test gives it
    user = await colleague(org);
  });

  const readOnly = (): Promise<ApiClient> => org.apiKey(['sessions:read']);
  const writeOnly = (): Promise<ApiClient> => org.apiKey(['sessions:write']);

  describe('GET /sessions/{id}', () => {
    it('answers the owner, an admin of the organization, and a key of the owner with sessions:read', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
      expect((await user.client.get(`/sessions/${id}`)).body).toMatchObject({ id, status: 'ACTIVE' });
      expect((await org.admin.get(`/sessions/${id}`)).body).toMatchObject({ id });
      const mine = await sessionInStatus(org, 'ACTIVE');
      expect((await (await readOnly()).get(`/sessions/${mine.id}`)).body).toMatchObject({ id: mine.id });
    });

    it('answers 403 to another user of the organization', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      expect((await user.client.get(`/sessions/${id}`)).status).toBe(403);
    });

    it('answers 404 to another organization, and for a session that does not exist', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      expect((await other.admin.get(`/sessions/${id}`)).status).toBe(404);
      expect((await org.admin.get(`/sessions/${randomUUID()}`)).status).toBe(404);
    });
  });

  describe('GET /sessions/{id}?waitSeconds', () => {
    const wait = (id: string, seconds: number | string, client = org.admin): Promise<Answer<Session>> =>
      client.get<Session>(`/sessions/${id}?waitSeconds=${seconds}`);
    /** What is first: the answers, or the end of a wait that began before. */
    const early = <T>(ask: () => Promise<T>): Promise<T | string> => {
      const over = pause(LONG_SECONDS * 1000 - 100, 'the wait is over', { ref: false });
      return Promise.race([ask(), over]);
    };

    it.each([
      ['PENDING', 'ACTIVE'],
      ['EXPIRING', 'CANCELLED'],
    ])('answers as soon as the status leaves %s', async (from, to) => {
      const { id } = await sessionInStatus(org, from);
      const waiting = early(() => wait(id, LONG_SECONDS));
      const shorter = wait(id, 1).then(() => 'a shorter wait ended');
      expect(await Promise.race([waiting, shorter])).toBe('a shorter wait ended');
      await putInStatus(org, id, to);
      expect(await waiting).toMatchObject({ status: 200, body: { status: to } });
    });

    it('answers with the status as it is at the end of the wait', async () => {
      const { id } = await sessionInStatus(org, 'PENDING');
      const before = pause(950, 'before the end');
      const waiting = wait(id, 1);
      expect(await Promise.race([waiting, before])).toBe('before the end');
      expect(await waiting).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    });

    it.each(['ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRED', 'CANCELLED'])(
      'answers at once when it is %s',
      async (status) => {
        const { id } = await sessionInStatus(org, status);
        expect(await early(() => wait(id, LONG_SECONDS))).toMatchObject({ status: 200, body: { status } });
      },
    );

    it.each(['0', '31', '-1', '1.5', 'long', ''])('answers 400 to waitSeconds of "%s"', async (seconds) => {
      const { id } = await sessionInStatus(org, 'PENDING');
      const { status, body } = await wait(id, seconds);
      expect(status).toBe(400);
      expect(body).toMatchObject({ validationErrors: { waitSeconds: matching(/./) } });
    });

    it('authenticates the caller before it waits', async () => {
      const { id } = await sessionInStatus(org, 'PENDING');
      const callers = [drawbridge.api, user.client, other.admin];
      const refusals = early(() => Promise.all(callers.map((caller) => wait(id, LONG_SECONDS, caller))));
      expect(await refusals).toMatchObject([{ status: 401 }, { status: 403 }, { status: 404 }]);
    });

    it('costs one database query per tick for all waiting requests', async () => {
      const sessions = await Promise.all(Array.from({ length: 60 }, () => sessionInStatus(org, 'PENDING')));
      const transactions = async (): Promise<number> => {
        const [row] = await drawbridge.query<{ count: string }>(
          'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
        );
        return Number(row!.count);
      };
      // what the past has cost is counted within a second
      await wait(sessions[0]!.id, 2);
      const before = await transactions();
      await Promise.all(sessions.map(({ id }) => wait(id, 6)));
      await wait(sessions[0]!.id, 2);
      // three for each request, thirty ticks, and what runs beside it; one for each who waits at each tick would be 1,800
      expect((await transactions()) - before).toBeLessThan(900);
    });

    it('stops waiting when the client disconnects', async () => {
      const { id } = await sessionInStatus(org, 'PENDING');
      const isLookedFor = async (): Promise<boolean> => {
        const looks = await drawbridge.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND query LIKE 'SELECT id FROM sessions WHERE id = ANY%' AND query_start > now() - interval '1 second'`,
        );
        return looks.length > 0;
      };
      const gone = new AbortController();
      const hungUp = org.admin.get(`/sessions/${id}?waitSeconds=30`, gone.signal).catch(() => 'hung up');
      await until('the session is looked for', isLookedFor);
      gone.abort();
      expect(await hungUp).toBe('hung up');
      await until('nobody looks for it any more', async () => !(await isLookedFor()));
    });

    it('answers all waiting requests at once when the server stops', async () => {
      const own = await Drawbridge.start({ worker: false });
      const mine = await organization(own);
      const { id } = await mine.started({ ipv4Address: freshAddress() });
      const waiting = early(() => wait(id, LONG_SECONDS, mine.admin));
      await wait(id, 1, mine.admin);
      expect(await own.apiServer.stop('SIGTERM')).toBe(0);
      expect(await waiting).toMatchObject({ status: 200, body: { status: 'PENDING' } });
      await own.stop();
    });
  });

  describe('GET /sessions and GET /sessions/admin', () => {
    const ids = async (path: string, client: ApiClient = org.admin): Promise<string[]> =>
      (await client.expect(200, client.get<Session[]>(path))).map(({ id }) => id);

    it('GET /sessions lists the caller’s own in any status, newest first', async () => {
      const someone = await colleague(org);
      const made: Session[] = [];
      for (const status of [...LIVE, ...NOT_LIVE])
        made.push(await sessionInStatus(org, status, someone.client));
      await sessionInStatus(org, 'ACTIVE');
      expect(await ids('/sessions', someone.client)).toEqual(made.map(({ id }) => id).toReversed());
    });

    it('GET /sessions takes a key with sessions:read only, and lists its user’s sessions', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE');
      expect(await ids('/sessions', await readOnly())).toContain(id);
      expect(await (await writeOnly()).get('/sessions')).toMatchObject(lacksScope('sessions:read'));
      expect((await drawbridge.api.get('/sessions')).status).toBe(401);
    });

    it('GET /sessions/admin lists the organization’s sessions only', async () => {
      const mine = await sessionInStatus(org, 'ACTIVE');
      const theirs = await sessionInStatus(org, 'ACTIVE', user.client);
      const foreign = await sessionInStatus(other, 'ACTIVE', other.admin);
      const listed = await ids('/sessions/admin');
      expect(listed.slice(0, 2)).toEqual([theirs.id, mine.id]);
      expect(listed).not.toContain(foreign.id);
    });

    it.each(['/sessions', '/sessions/admin'])('%s filters by resourceId', async (path) => {
      const [first, second] = org.resourceIds;
      const one = await sessionInStatus(org, 'ACTIVE', org.admin, { resourceIds: [first] });
      const two = await sessionInStatus(org, 'ACTIVE', org.admin, { resourceIds: [second] });
      const listed = await ids(`${path}?resourceId=${first}`);
      expect(listed).toContain(one.id);
      expect(listed).not.toContain(two.id);
      expect(await ids(`${path}?resourceId=${other.resourceIds[0]}`)).toEqual([]);
    });

    it.each(['/sessions', '/sessions/admin'])('%s filters by status, which may be repeated', async (path) => {
      const made: Record<string, string> = {};
      for (const status of ['ACTIVE', 'FAILED', 'EXPIRED'])
        made[status] = (await sessionInStatus(org, status)).id;
      expect(await ids(`${path}?status=FAILED`)).toContain(made['FAILED']);
      const listed = await ids(`${path}?status=FAILED&status=EXPIRED`);
      expect(listed).toEqual(expect.arrayContaining([made['FAILED'], made['EXPIRED']]));
      expect(listed).not.toContain(made['ACTIVE']);
    });

    it.each(['/sessions', '/sessions/admin'])(
      '%s?active=true lists PENDING, ACTIVE and PARTIAL ones, and active=false all others',
      async (path) => {
        const made: Record<string, string> = {};
        for (const status of [...LIVE, ...NOT_LIVE]) made[status] = (await sessionInStatus(org, status)).id;
        const listed = await ids(`${path}?active=true`);
        expect(Object.keys(made).filter((status) => listed.includes(made[status]!))).toEqual(LIVE);
        const over = await ids(`${path}?active=false`);
        expect(Object.keys(made).filter((status) => over.includes(made[status]!))).toEqual(NOT_LIVE);
        const partial = await ids(`${path}?active=true&status=PARTIAL&status=FAILED`);
        expect(Object.keys(made).filter((status) => partial.includes(made[status]!))).toEqual(['PARTIAL']);
        expect(await ids(`${path}?active=true&status=FAILED`)).toEqual([]);
      },
    );

    it.each(['/sessions', '/sessions/admin'])(
      '%s lists, with from and to, what overlaps that time',
      async (path) => {
        const someone = await colleague(org);
        const [client, filter] =
          path === '/sessions' ? [someone.client, ''] : [org.admin, `userId=${someone.id}&`];
        const at = (hour: number): string => `2026-01-31T${String(hour).padStart(2, '0')}:00:00.000Z`;
        const lasting = async (from: number, to: number | null): Promise<string> => {
          const { id } = await sessionInStatus(org, to === null ? 'ACTIVE' : 'EXPIRED', someone.client);
          await drawbridge.query(
            'UPDATE sessions SET created_at = $2, started_at = $2, ended_at = $3, expires_at = $4 WHERE id = $1',
            [id, at(from), to === null ? null : at(to), at(20)],
          );
          return id;
        };
        const made = {
          early: await lasting(6, 8),
          across: await lasting(7, 11),
          within: await lasting(9, 10),
          open: await lasting(9, null),
          late: await lasting(12, 13),
        };
        const listed = async (query: string): Promise<string[]> => {
          const found = await ids(`${path}?${filter}${query}`, client);
          return Object.entries(made).flatMap(([name, id]) => (found.includes(id) ? [name] : []));
        };
        expect(await listed(`from=${at(9)}&to=${at(11)}`)).toEqual(['across', 'within', 'open']);
        expect(await listed(`from=${at(11)}`)).toEqual(['across', 'open', 'late']);
        expect(await listed(`to=${at(7)}`)).toEqual(['early', 'across']);
        expect(await listed(`from=${at(21)}`)).toEqual([]);
        const backwards = await org.admin.get(`${path}?from=${at(9)}&to=${at(8)}`);
        expect(backwards).toMatchObject({ status: 400, body: { validationErrors: { from: matching(/./) } } });
      },
    );

    it('GET /sessions/admin filters by userId', async () => {
      const theirs = await sessionInStatus(org, 'ACTIVE', user.client);
      const mine = await sessionInStatus(org, 'ACTIVE');
      const listed = await ids(`/sessions/admin?userId=${user.id}`);
      expect(listed).toContain(theirs.id);
      expect(listed).not.toContain(mine.id);
    });

    it.each(['/sessions', '/sessions/admin'])('%s pages, with X-Total-Count and Link', async (path) => {
      const someone = await colleague(org);
      const client = path === '/sessions' ? someone.client : org.admin;
      const filter = path === '/sessions' ? '' : `userId=${someone.id}&`;
      for (let made = 0; made < 5; made += 1) await sessionInStatus(org, 'ACTIVE', someone.client);
      const all = await ids(`${path}?${filter}`, client);
      const middle = await client.get<Session[]>(`${path}?${filter}page=1&size=2`);
      expect(middle.body.map(({ id }) => id)).toEqual(all.slice(2, 4));
      expect(middle.headers.get('X-Total-Count')).toBe('5');
      const links = [...middle.headers.get('Link')!.matchAll(/<([^>]+)>; rel="(\w+)"/g)];
      expect(new Set(links.map(([, , rel]) => rel))).toEqual(new Set(['next', 'prev']));
      const next = links.find(([, , rel]) => rel === 'next')![1]!.replace('/api/v1', '');
      const last = await client.get<Session[]>(next);
      expect(last.body.map(({ id }) => id)).toEqual(all.slice(4));
      expect(last.headers.get('Link')).not.toContain('rel="next"');
      expect((await client.get<Session[]>(`${path}?${filter}page=9`)).body).toEqual([]);
    });

    it.each([
      ['page', '-1'],
      ['page', '1.5'],
      ['page', 'one'],
      ['page', '1e300'],
      ['size', '0'],
      ['size', '101'],
      ['size', 'all'],
      ['status', 'OPEN'],
      ['resourceId', 'database'],
      ['active', 'yes'],
    ])('both lists answer 400 to %s=%s, naming it', async (name, value) => {
      for (const path of ['/sessions', '/sessions/admin']) {
        const { status, body } = await org.admin.get<ApiFailure>(`${path}?${name}=${value}`);
        expect({ status, fields: Object.keys(body.validationErrors ?? {}) }).toEqual({
          status: 400,
          fields: [name],
        });
      }
    });

    it('GET /sessions/admin answers 400 to a userId that is no UUID', async () => {
      expect((await org.admin.get('/sessions/admin?userId=me')).status).toBe(400);
    });
  });
});
