import { resolve } from 'node:path';
import { callsTo, historyOf, nextCall } from '../../builders/sessions/cloud-history';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';
import { outage, OUTAGE_MS } from './outage';

const BREAKER = resolve(__dirname, '../../harness/product/break-on-signal.cjs');
const ADD = 'AuthorizeSecurityGroupIngress';

describe('A. Workers crash, repeatedly and in different ways', () => {
  const drawbridge = Drawbridge.own({ worker: false });

  const watch = watchEachTest(() => drawbridge);

  const stopAndClose = async (org: Organization, { id }: Session): Promise<void> => {
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  };

  it('killed between the two targets of one session: ACTIVE, each rule opened once [A4]', async () => {
    const org = await organization(drawbridge, [
      { group: group(0), config: { port: 22 } },
      { group: group(1), config: { ports: [22, 443] } },
    ]);
    await drawbridge.cloud.fault({ kind: 'timeout-before', target: group(1), operation: ADD, count: 1 });
    const worker = await drawbridge.startWorker();
    const session = await org.started({ ipv4Address: '203.0.113.70' });
    await nextCall(drawbridge.cloud, group(1), 'Authorize');
    await until('the first rule is recorded', async () => {
      const { resourceIps } = await org.session(session.id);
      return resourceIps.filter(({ status }) => status === 'APPLIED').length === 1;
    });
    await worker.stop('SIGKILL');
    const next = await drawbridge.startWorker();
    const active = await org.reaches(session.id, 'ACTIVE');
    expect(active.resourceIps.map(({ status }) => status)).toEqual(['APPLIED', 'APPLIED']);
    expect(await historyOf(drawbridge.cloud, { target: group(0) })).toEqual(['opened']);
    expect(await historyOf(drawbridge.cloud, { target: group(1) })).toEqual(['opened', 'opened']);
    await stopAndClose(org, session);
    await next.stop('SIGKILL');
  });

  it('killed after a half executed call: the added rule is adopted, the other one is added [A4]', async () => {
    const org = await organization(drawbridge, [{ group: group(2), config: { ports: [22, 443] } }]);
    await drawbridge.cloud.fault({ kind: 'partial', target: group(2), operation: ADD, count: 1 });
    const worker = await drawbridge.startWorker();
    const session = await org.started({ ipv4Address: '203.0.113.71' });
    await until(
      'half of the call is done',
      async () => (await drawbridge.cloud.rules(group(2))).length === 1,
    );
    await worker.stop('SIGKILL');
    const next = await drawbridge.startWorker();
    await org.reaches(session.id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { target: group(2) })).toEqual(['opened', 'opened']);
    await stopAndClose(org, session);
    await next.stop('SIGKILL');
  });

  it('killed ten times during the same work: the eleventh worker completes it [A7]', async () => {
    const org = await organization(drawbridge, [{ group: group(3), config: { port: 22 } }]);
    await drawbridge.cloud.fault({ kind: 'timeout-before', target: group(3), operation: ADD });
    const session = await org.started({ ipv4Address: '203.0.113.72' });
    for (let kill = 0; kill < 10; kill += 1) {
      const before = await callsTo(drawbridge.cloud, group(3), 'Authorize');
      const worker = await drawbridge.startWorker();
      await nextCall(drawbridge.cloud, group(3), 'Authorize', before);
      await worker.stop('SIGKILL');
      watch().workerKilled();
      // instead of waiting ten seconds: the lease of the killed worker expires
      await drawbridge.query('UPDATE targets SET lease_until = now()');
    }
    await drawbridge.cloud.clearFaults();
    const last = await drawbridge.startWorker();
    await org.reaches(session.id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { target: group(3) })).toEqual(['opened']);
    await stopAndClose(org, session);
    await last.stop('SIGKILL');
  });

  it(
    'no worker while 500 rules become due: all are removed within a minute of the start of a worker [A8]',
    async () => {
      const org = await organization(
        drawbridge,
        Array.from({ length: 10 }, (_, index) => ({ group: group(index), config: { port: 2200 } })),
      );
      const workers = await Promise.all([drawbridge.startWorker(), drawbridge.startWorker()]);
      const addresses = Array.from({ length: 50 }, (_, index) => `198.51.100.${index + 1}`);
      const sessions = await Promise.all(addresses.map((ipv4Address) => org.started({ ipv4Address })));
      for (const { id } of sessions) await org.reaches(id, 'ACTIVE');
      const open = async (): Promise<number> => {
        const rules = await drawbridge.cloud.rules();
        return rules.filter(({ address }) => addresses.includes(address)).length;
      };
      expect(await open()).toBe(500);
      await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
      for (const { id } of sessions) await org.expire(id);
      await outage();
      expect(await open()).toBe(500);
      const back = await drawbridge.startWorker();
      await until('all rules are removed', async () => (await open()) === 0);
      for (const { id } of sessions) await org.reaches(id, 'EXPIRED');
      await back.stop('SIGKILL');
    },
    1_800_000 + OUTAGE_MS,
  );

  it.each([
    ['process.exit during a call', 'exit', 4],
    ['an unhandled rejection', 'rejection', 5],
    ['an uncaught exception', 'exception', 6],
    ['out of memory', 'memory', 7],
  ])('%s: the process exits, and the next one completes its work [A10]', async (_what, kind, index) => {
    const org = await organization(drawbridge, [{ group: group(index), config: { port: 22 } }]);
    await drawbridge.cloud.fault({
      kind: 'timeout-after-success',
      target: group(index),
      operation: ADD,
      count: 1,
    });
    const before = await callsTo(drawbridge.cloud, group(index), 'Authorize');
    const worker = await drawbridge.startWorker({
      BREAK: kind,
      NODE_OPTIONS: `--require ${BREAKER} --max-old-space-size=200`,
    });
    const session = await org.started({ ipv4Address: '203.0.113.74' });
    await nextCall(drawbridge.cloud, group(index), 'Authorize', before);
    worker.signal('SIGUSR2');
    await until('the process has ended', () => Promise.resolve(worker.hasEnded));
    const next = await drawbridge.startWorker();
    await org.reaches(session.id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { target: group(index), address: '203.0.113.74' })).toEqual([
      'opened',
    ]);
    await stopAndClose(org, session);
    await next.stop('SIGKILL');
  });
});
