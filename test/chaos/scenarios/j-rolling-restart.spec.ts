import { ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import { LoadBalancer } from '../../harness/network/load-balancer';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';
import { SteadyTraffic } from '../steady-traffic';

const RESTARTS = Number(process.env['RESTARTS'] ?? 4);
const PER_SECOND = 50;
const GROUPS = 4;
const RESTART_TAKES_MS = 60_000;

/** Two API processes behind a load balancer and two workers, restarted in turn, one of each at a time. */
describe('J. Deploy and operations: a rolling restart', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(GROUPS));
  let balancer: LoadBalancer;
  let traffic: SteadyTraffic;
  const apis: AppProcess[] = [];
  const workers: AppProcess[] = [];

  const startApi = (): Promise<AppProcess> => drawbridge.startApi({ DRAIN_SECONDS: '2', ...TESTERS_LIMIT });

  beforeAll(async () => {
    apis.push(...(await Promise.all([startApi(), startApi()])));
    workers.push(...(await Promise.all([drawbridge.startWorker(), drawbridge.startWorker()])));
    balancer = await LoadBalancer.start(apis.map(({ port }) => port));
    traffic = new SteadyTraffic(balancer.port, org);
  });
  afterAll(async () => {
    await traffic.end();
    await balancer.stop();
  });

  const restart = async (turn: number): Promise<void> => {
    const [api, worker] = [apis[turn]!, workers[turn]!];
    await Promise.all([api.stop('SIGTERM'), worker.stop('SIGTERM')]);
    balancer.remove(api.port);
    [apis[turn], workers[turn]] = await Promise.all([startApi(), drawbridge.startWorker()]);
    balancer.add(apis[turn].port);
  };

  it(
    `${RESTARTS} restarts under ${PER_SECOND} requests a second: no request fails, and every rule is closed [J1]`,
    async () => {
      traffic.begin(PER_SECOND);
      for (let count = 0; count < RESTARTS; count += 1) await restart(count % 2);
      await traffic.end();
      await until(
        'every session is over',
        async () =>
          (await drawbridge.query(`SELECT 1 FROM sessions WHERE status NOT IN ('CANCELLED', 'FAILED')`))
            .length === 0,
      );
      expect(traffic.failures).toEqual([]);
      expect(await drawbridge.cloud.rules()).toEqual([]);
      const closed = (await drawbridge.cloud.timeline()).filter(({ event }) => event === 'closed');
      expect(closed.length).toBeGreaterThan(RESTARTS);
    },
    RESTARTS * RESTART_TAKES_MS,
  );
});
