import { execFileSync, spawnSync } from 'node:child_process';
import { ALERTS_FILE, alertRules, dashboard, LOG_COMMANDS, WORKER_LOG } from '../builders/programs/alerts';
import { group, organization, sshTo, type Organization } from '../builders/accounts/organization';
import { drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import { neededInCi } from '../harness/needed-in-ci';
import { hasPrometheus, Prometheus } from '../harness/machines/prometheus';
import { endConnections, setReadOnly } from '../harness/database/read-only';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { until } from '../harness/until';

/** As shipped, but for the time: a minute of a rule lasts a second. */
const IN_SECONDS = ALERTS_FILE.replaceAll(/\b(\d+)m\b/g, '$1s');

/** A rate needs two scrapes within a second or two, which a busy machine misses again and again. */
const PATIENCE_MS = 150_000;

const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '5s')] as const),
);

const hasJq = neededInCi('jq', spawnSync('jq', ['--version']).status === 0);
const withPrograms = hasPrometheus && hasRedis && hasJq ? describe : describe.skip;
if (!hasPrometheus)
  process.stderr.write('\n*** prometheus is not on the PATH: alerts and dashboard WERE NOT TESTED ***\n\n');

withPrograms('Every alert fires by its fault', () => {
  let redis: RedisServer;
  let drawbridge: Drawbridge;
  let prometheus: Prometheus;
  let org: Organization;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const port = await freePort(1);
    const api = { METRICS_PORT: String(port) };
    drawbridge = await Drawbridge.start({ worker: false, redisUrl: redis.url, api });
    await drawbridge.startWorker({ METRICS_PORT: String(port + 1) });
    org = await organization(drawbridge, sshTo(1));
    prometheus = await Prometheus.start(IN_SECONDS, {
      'drawbridge-api': port,
      'drawbridge-worker': port + 1,
    });
  });
  afterAll(async () => {
    await prometheus.stop();
    await drawbridge.stop();
    await redis.kill();
  });

  /** @param label a value of any label of the alert */
  const fires = async (alert: string, label = alert): Promise<void> => {
    const { annotations } = await until(
      `${alert} fires for ${label}`,
      async () =>
        (await prometheus.firing()).find(
          ({ labels }) => labels['alertname'] === alert && Object.values(labels).includes(label),
        ),
      PATIENCE_MS,
    );
    expect(Object.values(annotations).join(' ')).not.toMatch(/error|no value|%!/);
  };

  const resolves = (alert: string): Promise<boolean> =>
    until(`${alert} no longer fires`, async () =>
      (await prometheus.firing()).every(({ labels }) => labels['alertname'] !== alert),
    );

  let addresses = 0;
  /** Starts sessions of an address each. @returns their ids */
  const started = (count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        addresses += 1;
        return (await org.started({ ipv4Address: `203.0.113.${addresses}`, holder: String(addresses) })).id;
      }),
    );
  const reach = (ids: readonly string[], status: string) =>
    Promise.all(ids.map((id) => org.reaches(id, status)));
  const opened = async (count: number): Promise<string[]> => {
    const ids = await started(count);
    await reach(ids, 'ACTIVE');
    return ids;
  };
  const stop = (ids: readonly string[]) =>
    Promise.all(ids.map((id) => org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`))));

  it('and none without one', async () => {
    const ids = await opened(2);
    await stop(ids);
    await reach(ids, 'CANCELLED');
    // refused: nobody is signed in
    await drawbridge.api.get('/sessions');
    await until('the figures of the closed rules are scraped', () =>
      prometheus.hasAnswered('drawbridge_revocation_lateness_seconds_count{provider="AWS"} == 2'),
    );
    expect(await prometheus.firing()).toEqual([]);
  });

  it('DrawbridgeWorkerFails: rows that the worker cannot write', async () => {
    await drawbridge.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'this row cannot be written'; END $$`);
    await drawbridge.query(`CREATE TRIGGER refuse BEFORE INSERT ON audit_seals EXECUTE FUNCTION refuse()`);
    await drawbridge.query(`CREATE TRIGGER refuse BEFORE UPDATE ON resource_ips FOR EACH ROW
      WHEN (NEW.ip_address = '203.0.113.250') EXECUTE FUNCTION refuse()`);
    await org.started({ ipv4Address: '203.0.113.250', holder: 'bad' });
    await fires('DrawbridgeWorkerFails', 'AWS');
  });

  it('DrawbridgeRulesChangedOutside: a rule is removed by hand', async () => {
    await opened(1);
    await drawbridge.cloud.removeByHand(group(0), `203.0.113.${addresses}/32`);
    await org.admin.expect(200, org.admin.post(`/resources/${org.resourceIds[0]}/reconcile`));
    await fires('DrawbridgeRulesChangedOutside');
  });

  it('DrawbridgeRemovalsFail and DrawbridgeRulesOverdue: the cloud refuses removals', async () => {
    const ids = await opened(6);
    await drawbridge.cloud.fault({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await stop(ids);
    await fires('DrawbridgeRemovalsFail', 'denied');
    await drawbridge.query(`UPDATE rules SET unwanted_since = unwanted_since - interval '60 seconds'`);
    await fires('DrawbridgeRulesOverdue');
    await drawbridge.cloud.clearFaults();
    await reach(ids, 'CANCELLED');
    await resolves('DrawbridgeRulesOverdue');
  });

  it('DrawbridgeNoWorkerSweeps, DrawbridgeProcessDown, DrawbridgeBacklogGrows, DrawbridgeRevocationsLate: the only worker is frozen', async () => {
    const ids = await opened(6);
    drawbridge.worker.signal('SIGSTOP');
    await stop(ids);
    await started(12);
    await drawbridge.query(`UPDATE sweeper_lease SET swept_at = now() - interval '21 seconds'`);
    await Promise.all([
      fires('DrawbridgeNoWorkerSweeps'),
      fires('DrawbridgeProcessDown', 'drawbridge-worker'),
      fires('DrawbridgeBacklogGrows'),
    ]);
    drawbridge.worker.signal('SIGCONT');
    await reach(ids, 'CANCELLED');
    // what was due is closed
    await fires('DrawbridgeRevocationsLate');
  });

  it('DrawbridgeWorkerFails: a task has not succeeded for long', async () => {
    await fires('DrawbridgeWorkerFails', 'seal audit records');
    await drawbridge.query('DROP FUNCTION refuse CASCADE');
    await resolves('DrawbridgeWorkerFails');
  });

  it('DrawbridgeHeldAfterRestore: the database is said to be restored', async () => {
    const restored = (option: string) =>
      drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['restored', option]);
    expect(await restored('--begin')).toMatchObject({ code: 1, stderr: '' });
    await fires('DrawbridgeHeldAfterRestore');
    expect(await restored('--confirm')).toMatchObject({ code: 0, stderr: '' });
    await resolves('DrawbridgeHeldAfterRestore');
  });

  it('DrawbridgeQueueDown: Redis is gone', async () => {
    await redis.kill();
    await fires('DrawbridgeQueueDown', 'drawbridge-api');
    await fires('DrawbridgeQueueDown', 'drawbridge-worker');
    await redis.startAgain();
    await resolves('DrawbridgeQueueDown');
  });

  it('DrawbridgeDatabaseDown and DrawbridgeApiFails: the database accepts no writes', async () => {
    await setReadOnly(drawbridge, true);
    await endConnections(drawbridge);
    await fires('DrawbridgeDatabaseDown', 'drawbridge-api');
    await fires('DrawbridgeDatabaseDown', 'drawbridge-worker');
    const refused = setInterval(() => void org.start({ ipv4Address: '203.0.113.251' }), 250);
    await fires('DrawbridgeApiFails').finally(() => clearInterval(refused));
    await setReadOnly(drawbridge, false);
    await resolves('DrawbridgeDatabaseDown');
  });

  it('DrawbridgeApiFails and DrawbridgeProcessDown: the API is gone', async () => {
    await drawbridge.apiServer.stop('SIGKILL');
    await fires('DrawbridgeApiFails', 'api');
    await fires('DrawbridgeProcessDown', 'drawbridge-api');
  });

  it('so that each has fired, and every question of the dashboard has had an answer', async () => {
    const fired = alertRules.map(
      ({ alert }) => [alert, `ALERTS{alertname="${alert}",alertstate="firing"}`] as const,
    );
    for (const [title, query] of [...fired, ...queries])
      expect([title, await prometheus.hasAnswered(query)]).toEqual([title, true]);
  });

  // docker is not there: its logs are what the processes have written
  it.each(LOG_COMMANDS)('and the runbook finds it in the log: %s', (command) => {
    const input = (command.includes(' logs api ') ? drawbridge.apiServer : drawbridge.worker).output;
    const script = `docker() { cat; }\n${WORKER_LOG}\n${command}`;
    const found = execFileSync('bash', ['-eo', 'pipefail', '-c', script], { input, encoding: 'utf8' });
    expect(found).not.toBe('');
  });
});
