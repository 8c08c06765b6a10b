import { callsTo, historyOf, nextCall } from '../../builders/sessions/cloud-history';
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
const CLOCKS = [
  ['ten minutes slow', -600],
  ['ten minutes fast', 600],
] as const;

describe('G. Wrong clocks and paused processes', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(4));

  watchEachTest(() => drawbridge);

  /** When the address was removed from the cloud, ms since 1970. */
  const closedAt = async (address: string): Promise<number> => {
    const timeline = await drawbridge.cloud.timeline();
    const closed = timeline.filter((entry) => entry.address === address && entry.event === 'closed');
    expect(closed).toHaveLength(1);
    return closed[0]!.at / 1000;
  };

  withFaketime('a process with a wrong clock', () => {
    it.each(CLOCKS)(
      'a worker whose clock is %s closes a rule neither early nor late [G1]',
      async (_what, seconds) => {
        const address = `203.0.113.${seconds < 0 ? 1 : 2}`;
        const worker = await drawbridge.startWorker(skewedClock(seconds));
        const { id } = await org.started({ ipv4Address: address, resourceIds: [org.resourceIds[0]] });
        await org.reaches(id, 'ACTIVE');
        await org.expire(id, 3000);
        const ends = Date.parse((await org.session(id)).expiresAt);
        await org.reaches(id, 'EXPIRED');
        // ten minutes too late would be no EXPIRED yet
        expect(await closedAt(address)).toBeGreaterThanOrEqual(ends);
        await worker.stop();
      },
    );

    it.each(CLOCKS)('an API whose clock is %s uses the time of the database [G2]', async (_what, seconds) => {
      const worker = await drawbridge.startWorker();
      const api = await drawbridge.startApi(skewedClock(seconds));
      const client = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
      const began = Date.now();
      const session = await client.posted<Session>('/sessions', {
        ipv4Address: `203.0.113.${seconds < 0 ? 3 : 4}`,
        durationHours: 2,
        resourceIds: [org.resourceIds[1]],
      });
      const startedAt = Date.parse(session.startedAt);
      expect(startedAt).toBeGreaterThanOrEqual(began - 1000);
      expect(startedAt).toBeLessThanOrEqual(Date.now() + 1000);
      expect(Date.parse(session.expiresAt) - startedAt).toBe(2 * 3_600_000);
      await org.reaches(session.id, 'ACTIVE');
      await client.posted(`/sessions/${session.id}/extend`, { additionalHours: 1 });
      const extended = await org.session(session.id);
      expect(Date.parse(extended.expiresAt) - startedAt).toBe(3 * 3_600_000);
      await client.posted(`/resources/${org.resourceIds[1]}/verify`);
      await client.posted(`/sessions/${session.id}/stop`);
      const ended = await org.reaches(session.id, 'CANCELLED');
      expect(Date.parse(ended.endedAt!)).toBeLessThanOrEqual(Date.now() + 1000);
      await api.stop();
      await worker.stop();
    });
  });

  it('a worker is paused during a call: another one takes over [G5]', async () => {
    const paused = await drawbridge.startWorker();
    await drawbridge.cloud.fault({
      kind: 'timeout-before',
      target: group(2),
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.5', resourceIds: [org.resourceIds[2]] });
    await nextCall(drawbridge.cloud, group(2), 'Authorize');
    paused.signal('SIGSTOP');
    const next = await drawbridge.startWorker();
    await org.reaches(id, 'ACTIVE');
    paused.signal('SIGCONT');
    await next.stop();
    await org.expire(id);
    await org.reaches(id, 'EXPIRED');
    expect(await historyOf(drawbridge.cloud, { target: group(2) })).toEqual(['opened', 'closed']);
    await paused.stop();
  });

  it('a worker that was paused before its call does not send it after its lease expired [G5]', async () => {
    const connection = await HeldAnswers.to(drawbridge.databaseUrl);
    const paused = await drawbridge.startWorker({ DATABASE_URL: connection.url });
    // the end of the transaction that records the intent
    connection.holdAfter('last_write_at = now()', 'COMMIT');
    const { id } = await org.started({ ipv4Address: '203.0.113.6', resourceIds: [org.resourceIds[3]] });
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
    const after = await org.started({ ipv4Address: '203.0.113.7', resourceIds: [org.resourceIds[2]] });
    await org.reaches(after.id, 'ACTIVE');
    expect(await callsTo(drawbridge.cloud, group(3), 'Authorize')).toBe(1);
    expect(await historyOf(drawbridge.cloud, { target: group(3) })).toEqual(['opened', 'closed']);
    await paused.stop();
    await connection.close();
  });
});
