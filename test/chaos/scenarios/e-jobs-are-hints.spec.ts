import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { queueName, type QueueConnection } from '#jobs';
import { callsTo } from '../../builders/sessions/cloud-history';
import { group, organization, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { postgresQueue } from '../../harness/database/postgres-queue';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

describe('E. Jobs only say where to look', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(10));
  let connection: QueueConnection;
  let queue: Queue;

  beforeAll(() => {
    connection = postgresQueue(drawbridge.databaseUrl);
    queue = new Queue(queueName('AWS'), { connection: connection.options });
    // dropping the database closes its connections
    queue.on('error', () => undefined);
  });
  afterAll(async () => {
    await queue.close();
    await connection.close();
  });
  watchEachTest(() => drawbridge);

  const allProcessed = (): Promise<boolean> =>
    until('every job was processed', async () => {
      const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
      return Object.values(counts).every((count) => count === 0);
    });

  it('forged, empty or outdated jobs: only the desired state in the database is applied [E12]', async () => {
    const worker = await drawbridge.startWorker();
    const [target] = await drawbridge.query<{ id: string }>('SELECT id FROM targets WHERE identifier = $1', [
      group(3),
    ]);
    for (const data of [
      null,
      'apply',
      {},
      { targetId: 7 },
      { targetId: "'; DROP TABLE rules; --" },
      { targetId: randomUUID() },
      { ruleId: randomUUID(), action: 'add', address: '0.0.0.0/0' },
      { targetId: target!.id, action: 'add', address: '0.0.0.0/0', ports: '*' },
    ]) {
      await queue.add('apply-rules', data, {
        jobId: randomUUID(),
        removeOnComplete: true,
        removeOnFail: true,
      });
    }
    await allProcessed();
    expect(await callsTo(drawbridge.cloud, group(3), 'Authorize')).toBe(0);
    const { id } = await org.started({ ipv4Address: '203.0.113.3', resourceIds: [org.resourceIds[3]] });
    await org.reaches(id, 'ACTIVE');
    expect(worker.hasEnded).toBe(false);
    await worker.stop();
  });

  it('a backlog that is due at once: removals come before additions, and another organization is served meanwhile [E10] [E11]', async () => {
    const workers = [await drawbridge.startWorker()];
    const other = await organization(drawbridge, [{ group: group(9), config: { port: 443 } }]);
    const start = (net: number, count: number): Promise<{ id: string }[]> =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          org.started({ ipv4Address: `192.0.${net}.${index + 1}`, resourceIds: org.resourceIds.slice(4, 9) }),
        ),
      );
    const ending = await start(2, 40);
    for (const { id } of ending) await org.reaches(id, 'ACTIVE');
    await workers[0]!.stop('SIGKILL');
    const opening = await start(3, 20);
    await drawbridge.query(`UPDATE sessions SET expires_at = (SELECT now()) WHERE id = ANY ($1::uuid[])`, [
      ending.map(({ id }) => id),
    ]);
    // the sweeper lease of the killed worker delays the next sweep
    await drawbridge.query(`UPDATE sweeper_lease SET lease_until = now() + interval '5 seconds'`);
    workers.push(await drawbridge.startWorker(), await drawbridge.startWorker());
    const concurrent = await other.started({ ipv4Address: '203.0.113.9' });
    await other.reaches(concurrent.id, 'ACTIVE');
    for (const { id } of ending) await org.reaches(id, 'EXPIRED');
    for (const { id } of opening) await org.reaches(id, 'ACTIVE');
    const timeline = await drawbridge.cloud.timeline();
    for (const index of [4, 5, 6, 7, 8]) {
      const here = timeline.filter((entry) => entry.target === group(index));
      const opened = here.filter(({ address }) => address.startsWith('192.0.3.')).map(({ at }) => at);
      const closed = here.filter(({ event }) => event === 'closed').map(({ at }) => at);
      expect(closed).toHaveLength(40);
      expect(Math.max(...closed)).toBeLessThan(Math.min(...opened));
    }
    await Promise.all(workers.slice(1).map((worker) => worker.stop()));
  });
});
