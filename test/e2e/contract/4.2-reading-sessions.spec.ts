import { setTimeout as pause } from 'node:timers/promises';
import type { ApiFailure } from '../../builders/accounts/accounts';
import { colleague, type Colleague } from '../../builders/accounts/colleague';
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

  describe('GET /sessions/{id}', () => {
    it('answers the owner and an admin of the organization, and 403 to another user of it', async () => {
      const { id } = await sessionInStatus(org, 'ACTIVE', user.client);
      expect((await user.client.get(`/sessions/${id}`)).body).toMatchObject({ id, status: 'ACTIVE' });
      expect((await org.admin.get(`/sessions/${id}`)).body).toMatchObject({ id });
      const { client } = await colleague(org);
      expect((await client.get(`/sessions/${id}`)).status).toBe(403);
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

    it('both list, with from and to, what overlaps that time', async () => {
      const someone = await colleague(org);
      const at = (hour: number): string => `2026-01-31T${String(hour).padStart(2, '0')}:00:00.000Z`;
      const lasting = async (from: number, to: number): Promise<string> => {
        const { id } = await sessionInStatus(org, 'EXPIRED', someone.client);
        await drawbridge.query(
          'UPDATE sessions SET created_at = $2, started_at = $2, ended_at = $3, expires_at = $3 WHERE id = $1',
          [id, at(from), at(to)],
        );
        return id;
      };
      const [, across] = [await lasting(6, 8), await lasting(7, 11), await lasting(12, 13)];
      const query = `from=${at(9)}&to=${at(11)}`;
      expect(await ids(`/sessions?${query}`, someone.client)).toEqual([across]);
      expect(await ids(`/sessions/admin?userId=${someone.id}&${query}`)).toEqual([across]);
      for (const path of ['/sessions', '/sessions/admin'])
        expect(await org.admin.get(`${path}?from=${at(9)}&to=${at(8)}`)).toMatchObject({
          status: 400,
          body: { validationErrors: { from: matching(/./) } },
        });
    });

    it('GET /sessions/admin filters by userId', async () => {
      const theirs = await sessionInStatus(org, 'ACTIVE', user.client);
      const mine = await sessionInStatus(org, 'ACTIVE');
      const listed = await ids(`/sessions/admin?userId=${user.id}`);
      expect(listed).toContain(theirs.id);
      expect(listed).not.toContain(mine.id);
    });

    it.each([
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
  });
});
