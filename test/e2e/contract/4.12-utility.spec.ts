import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { freePort } from '../../harness/network/free-port';
import { SeverableConnection } from '../../harness/database/severable-connection';
import { until } from '../../harness/until';

describe('4.12 Utility', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  it('GET /health is UP, without credentials', async () => {
    const { status, body } = await drawbridge.api.get('/health');
    expect([status, body]).toEqual([200, { status: 'UP' }]);
  });

  it('GET /health/ready says that database and queue answer, and that no worker is there', async () => {
    const { status, body } = await drawbridge.api.get('/health/ready');
    expect([status, body]).toEqual([
      200,
      { status: 'DEGRADED', database: 'UP', queue: 'UP', worker: 'AWAY' },
    ]);
  });

  it('with the database gone the process is alive, not ready (503), and ready again when it is back', async () => {
    const way = await SeverableConnection.to(drawbridge.databaseUrl);
    const metricsPort = await freePort();
    const { port } = await drawbridge.startApi({ DATABASE_URL: way.url, METRICS_PORT: String(metricsPort) });
    const lonely = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    await way.cut();
    const ready = await lonely.get('/health/ready');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'DOWN', database: 'DOWN', queue: 'DOWN', worker: 'AWAY' },
    ]);
    // no figure of the database is shown as if it were known
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/^drawbridge_sweep_age_seconds \+Inf$/m);
    expect(metrics).toMatch(/^drawbridge_overdue_rules\{provider="AWS"\} Nan$/m);
    expect((await lonely.get('/health')).status).toBe(200);
    await way.restore();
    await until('it is ready', async () => (await lonely.get('/health/ready')).status === 200);
    await way.cut();
  });

  it('health does not mind credentials that are worth nothing', async () => {
    const forger = drawbridge.api.as({ token: 'not.a.token' });
    expect((await forger.get('/health')).status).toBe(200);
    expect((await forger.get('/detect-ip')).status).toBe(200);
  });
});
