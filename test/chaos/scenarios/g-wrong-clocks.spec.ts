import { callsTo, historyOf } from '../../builders/sessions/cloud-history';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { ApiClient, type Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { HeldAnswers } from '../../harness/database/held-answers';
import { hasFaketime, skewedClock } from '../../harness/machines/skewed-clock';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

if (!hasFaketime)
  process.stderr.write('\n*** faketime is not on the PATH: skewed clocks WERE NOT TESTED ***\n\n');

const withFaketime = hasFaketime ? describe : describe.skip;

describe('G. Wrong clocks and paused processes', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(3));

  watchEachTest(() => drawbridge);

  withFaketime('a process with a wrong clock', () => {
    it.each([
      ['ten minutes slow', -600, '203.0.113.1', '203.0.113.2'],
      ['ten minutes fast', 600, '203.0.113.3', '203.0.113.4'],
    ])(
      'an API and a worker whose clocks are %s go by the time of the database [G1, G2]',
      async (_, seconds, stopped, expired) => {
        const worker = await drawbridge.startWorker(skewedClock(seconds));
        const api = await drawbridge.startApi(skewedClock(seconds));
        const client = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
        const start = (ipv4Address: string): Promise<Session> =>
          client.posted<Session>('/sessions', {
            ipv4Address,
            durationHours: 2,
            resourceIds: [org.resourceIds[0]],
          });
        const began = Date.now();
        const session = await start(stopped);
        const startedAt = Date.parse(session.startedAt);
        expect(startedAt).toBeGreaterThanOrEqual(began - 1000);
        expect(startedAt).toBeLessThanOrEqual(Date.now() + 1000);
        expect(Date.parse(session.expiresAt) - startedAt).toBe(2 * 3_600_000);
        await org.reaches(session.id, 'ACTIVE');
        await client.posted(`/sessions/${session.id}/extend`, { additionalHours: 1 });
        const extended = await org.session(session.id);
        expect(Date.parse(extended.expiresAt) - startedAt).toBe(3 * 3_600_000);
        await client.posted(`/resources/${org.resourceIds[0]}/verify`);
        await client.posted(`/sessions/${session.id}/stop`);
        const ended = await org.reaches(session.id, 'CANCELLED');
        expect(Date.parse(ended.endedAt!)).toBeLessThanOrEqual(Date.now() + 1000);

        const { id } = await start(expired);
        await org.reaches(id, 'ACTIVE');
        await org.expire(id, 3000);
        const ends = Date.parse((await org.session(id)).expiresAt);
        await org.reaches(id, 'EXPIRED');
        const timeline = await drawbridge.cloud.timeline();
        const closed = timeline.filter((entry) => entry.address === expired && entry.event === 'closed');
        // ten minutes too late would be no EXPIRED yet
        expect(closed.map(({ at }) => at / 1000 >= ends)).toEqual([true]);
        await Promise.all([api.stop(), worker.stop()]);
      },
    );
  });

  it('a worker that was paused before its call does not send it after its lease expired [G5]', async () => {
    const connection = await HeldAnswers.to(drawbridge.databaseUrl);
    const paused = await drawbridge.startWorker({ DATABASE_URL: connection.url });
    // the end of the transaction that records the intent
    connection.holdAfter('last_write_at = now()', 'COMMIT');
    const { id } = await org.started({ ipv4Address: '203.0.113.6', resourceIds: [org.resourceIds[2]] });
    await until('it is about to call', async () => {
      const rows = await drawbridge.query(
        `SELECT 1 FROM rules WHERE address = '203.0.113.6/32' AND state = 'unknown'`,
      );
      return connection.isHolding && rows.length === 1;
    });
    paused.signal('SIGSTOP');
    connection.release();
    const next = await drawbridge.startWorker();
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    await next.stop();
    paused.signal('SIGCONT');
    // its next work shows that it would have sent the earlier call by now
    const after = await org.started({ ipv4Address: '203.0.113.7', resourceIds: [org.resourceIds[1]] });
    await org.reaches(after.id, 'ACTIVE');
    expect(await callsTo(drawbridge.cloud, group(2), 'Authorize')).toBe(1);
    expect(await historyOf(drawbridge.cloud, { target: group(2) })).toEqual(['opened', 'closed']);
    await paused.stop();
    await connection.close();
  });
});
