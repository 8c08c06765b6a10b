import { guardedHost, lastHeardOf } from '../builders/agents';
import { group, organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { freePort } from '../harness/free-port';
import type { AppProcess } from '../harness/processes';

describe('Operators see what is overdue', () => {
  let drawbridge: Drawbridge;
  let org: Organization;
  let worker: AppProcess;
  let apiMetricsPort: number;

  beforeAll(async () => {
    apiMetricsPort = await freePort();
    drawbridge = await Drawbridge.start({
      worker: false,
      api: { METRICS_PORT: String(apiMetricsPort) },
    });
    worker = await drawbridge.startWorker({ METRICS_PORT: '0' });
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(() => drawbridge.stop());

  const read = async (path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${worker.port}${path}`);
    return { status: response.status, text: await response.text() };
  };

  /** The value of a metric; 0 when it has none yet. */
  const metric = async (name: string, labels = 'provider="AWS"'): Promise<number> => {
    const { text } = await read('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${name}{${labels}`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  it('reports liveness and readiness', async () => {
    expect(await read('/health')).toEqual({ status: 200, text: 'UP\n' });
    expect(await read('/health/ready')).toEqual({ status: 200, text: 'UP\n' });
    expect((await read('/')).status).toBe(404);
  });

  it('counts passes, and how late rules were closed', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.1' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED');
    expect(await metric('drawbridge_passes_total', 'provider="AWS",outcome="ok"')).toBeGreaterThan(0);
    expect(await metric('drawbridge_revocation_lateness_seconds_count')).toBe(1);
    expect(await metric('drawbridge_revocation_lateness_seconds_sum')).toBeLessThan(20);
    expect(await metric('overdue_rules')).toBe(0);
    expect((await read('/metrics')).text).toContain('queue_depth{provider="AWS"}');
  });

  it('counts present and absent agents', async () => {
    const host = await guardedHost(org, 'watched-host');
    expect(await metric('agents', 'state="connected"')).toBe(0);
    await host.agent().fetched();
    expect(await metric('agents', 'state="connected"')).toBe(1);
    await lastHeardOf(drawbridge, 'watched-host', 60);
    expect(await metric('agents', 'state="connected"')).toBe(0);
    expect(await metric('agents', 'state="away"')).toBe(1);
  });

  it('shows a rule that cannot be closed, how long it is overdue, and when it no longer is', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.2' });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(0),
      operation: 'RevokeSecurityGroupIngress',
    });
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = unwanted_since - interval '30 seconds' WHERE id IN (SELECT h.rule_id FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE ip.session_id = $1)`,
      [id],
    );
    expect(await metric('overdue_rules')).toBe(1);
    expect(await metric('oldest_overdue_seconds')).toBeGreaterThanOrEqual(30);
    await drawbridge.cloud.clearFaults();
    await org.reaches(id, 'CANCELLED', 45_000);
    expect(await metric('overdue_rules')).toBe(0);
  });

  it('measures the API’s requests by route, not by id', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.3' });
    await org.session(id);
    const response = await fetch(`http://127.0.0.1:${apiMetricsPort}/metrics`);
    const text = await response.text();
    expect(text).toMatch(
      /drawbridge_http_request_seconds_count\{method="GET",route="\/api\/v1\/sessions\/:id",status="200"\} \d+/,
    );
    expect(text).not.toContain(id);
  });
});
