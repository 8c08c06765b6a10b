import { resolve } from 'node:path';
import { historyOf, nextCall } from '../../builders/sessions/cloud-history';
import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { watchEachTest } from './watch-each-test';

const BREAKER = resolve(__dirname, '../../harness/product/break-on-signal.cjs');

describe('A. A worker ends by its own fault', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(3));

  watchEachTest(() => drawbridge);

  it.each([
    ['an unhandled rejection', 'rejection', 0],
    ['an uncaught exception', 'exception', 1],
    ['out of memory', 'memory', 2],
  ])('%s: the process exits, and the next one completes its work [A10]', async (_what, kind, index) => {
    const target = group(index);
    await drawbridge.cloud.fault({
      kind: 'timeout-after-success',
      target,
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const worker = await drawbridge.startWorker({
      BREAK: kind,
      NODE_OPTIONS: `--require ${BREAKER} --max-old-space-size=200`,
    });
    const { id } = await org.started({
      ipv4Address: '203.0.113.74',
      resourceIds: [org.resourceIds[index]],
    });
    await nextCall(drawbridge.cloud, target, 'Authorize');
    worker.signal('SIGUSR2');
    await until('the process has ended', () => Promise.resolve(worker.hasEnded));
    const next = await drawbridge.startWorker();
    await org.reaches(id, 'ACTIVE');
    expect(await historyOf(drawbridge.cloud, { target })).toEqual(['opened']);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    await next.stop('SIGKILL');
  });
});
