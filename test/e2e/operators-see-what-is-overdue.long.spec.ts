import { PROVIDERS } from '#rules';
import { guardedHost, lastHeardOf } from '../builders/resources/agents';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import type { AppProcess } from '../harness/product/processes';
import { until } from '../harness/until';

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

  const read = async (path: string, port = worker.port): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };

  /** The value of a metric; NaN when it is absent. */
  const metric = async (
    name: string,
    labels: string | null = 'provider="AWS"',
    port?: number,
  ): Promise<number> => {
    const { text } = await read('/metrics', port);
    const start = labels === null ? `${name} ` : `${name}{${labels}`;
    const line = text.split('\n').find((one) => one.startsWith(start));
    return Number(line?.split(' ').at(-1)?.replace('Inf', 'Infinity') ?? Number.NaN);
  };

  const overdue = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['overdue', ...given]);

  const longAgo = (sessionId: string): Promise<object[]> =>
    drawbridge.query(
      `UPDATE rules SET unwanted_since = unwanted_since - interval '60 seconds' WHERE id IN (SELECT h.rule_id FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id WHERE ip.session_id = $1)`,
      [sessionId],
    );

  it('reports liveness and readiness', async () => {
    expect(await read('/health')).toEqual({ status: 200, text: 'UP\n' });
    for (const port of [worker.port, apiMetricsPort])
      await until('it is ready', async () => (await read('/health/ready', port)).text === 'UP\n');
    expect((await read('/')).status).toBe(404);
  });

  it('has a sample for every provider while nothing is pending, in the API too', async () => {
    for (const port of [worker.port, apiMetricsPort])
      for (const provider of PROVIDERS)
        for (const name of ['overdue_rules', 'oldest_overdue_seconds', 'due_rules'])
          expect([
            name,
            provider,
            await metric(`drawbridge_${name}`, `provider="${provider}"`, port),
          ]).toEqual([name, provider, 0]);
  });

  it('counts passes, and how late rules were closed', async () => {
    const { id } = await org.opened({ ipv4Address: '203.0.113.1' });
    await org.closed(id);
    expect(await metric('drawbridge_passes_total', 'provider="AWS",outcome="ok"')).toBeGreaterThan(0);
    expect(await metric('drawbridge_revocation_lateness_seconds_count')).toBe(1);
    // as long as this test waits for it
    expect(await metric('drawbridge_revocation_lateness_seconds_sum')).toBeLessThan(45);
  });

  it('counts present and absent agents', async () => {
    const host = await guardedHost(org, 'watched-host');
    expect(await metric('drawbridge_agents', 'state="connected"')).toBe(0);
    await host.agent().fetched();
    expect(await metric('drawbridge_agents', 'state="connected"')).toBe(1);
    await lastHeardOf(drawbridge, 'watched-host', 60);
    expect(await metric('drawbridge_agents', 'state="connected"')).toBe(0);
    expect(await metric('drawbridge_agents', 'state="away"')).toBe(1);
  });

  describe('while a rule cannot be closed', () => {
    let passesBefore: number;
    const passed = (): Promise<number> => metric('drawbridge_passes_total', 'provider="AWS",outcome="ok"');
    const removals = (outcome: string): Promise<number> =>
      metric('drawbridge_changes_total', `provider="AWS",action="remove",outcome="${outcome}"`);

    beforeAll(async () => {
      const { id } = await org.opened({ ipv4Address: '203.0.113.2' });
      await drawbridge.cloud.fault({
        kind: 'refuse',
        target: group(0),
        operation: 'RevokeSecurityGroupIngress',
      });
      passesBefore = await passed();
      await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
      await until(
        'its removal was refused',
        async () =>
          (
            await drawbridge.query(
              `SELECT FROM rules WHERE address = '203.0.113.2/32' AND last_error IS NOT NULL`,
            )
          ).length === 1,
      );
      await longAgo(id);
    });

    it('shows it, and for how long it is overdue', async () => {
      for (const port of [worker.port, apiMetricsPort]) {
        expect(await metric('drawbridge_overdue_rules', undefined, port)).toBe(1);
        expect(await metric('drawbridge_oldest_overdue_seconds', undefined, port)).toBeGreaterThanOrEqual(60);
      }
    });

    it('counts changes by what became of them, and passes as failed', async () => {
      await until('several were refused', async () => (await removals('denied')) >= 2);
      expect(await removals('done')).toBeGreaterThan(0);
      expect(await passed()).toBe(passesBefore);
      expect(await metric('drawbridge_passes_total', 'provider="AWS",outcome="denied"')).toBeGreaterThan(1);
    });

    it('warns in the log, with what is needed to act', async () => {
      const warned = (text: string): Promise<Record<string, unknown>> =>
        until(`a warning: ${text}`, async () => {
          const lines = worker.output.split('\n').filter((line) => line.includes(text));
          return Promise.resolve(lines.length > 0 && (JSON.parse(lines.at(-1)!) as Record<string, unknown>));
        });
      expect(await warned('Rules that should be gone are still in the cloud')).toMatchObject({
        level: 40,
        count: 1,
        rules: [
          {
            organizations: [{ id: org.organizationId }],
            provider: 'AWS',
            identifier: expect.stringContaining(group(0)) as string,
            address: '203.0.113.2/32',
            unwantedSince: expect.any(String) as string,
            lastError: expect.any(String) as string,
          },
        ],
      });
      expect(await warned('Rule removal refused')).toMatchObject({ level: 40, address: '203.0.113.2/32' });
    });

    it('lists it for operators of the service', async () => {
      expect((await org.admin.get('/platform/overdue-rules')).status).toBe(403);
      for (const role of ['SUPPORT', 'SUPER_ADMIN']) {
        await drawbridge.query('UPDATE users SET platform_role = $2 WHERE id = $1', [org.adminId, role]);
        const page = await org.admin.get('/platform/overdue-rules?size=10');
        expect([page.status, page.headers.get('X-Total-Count')]).toEqual([200, '1']);
        expect(page.body).toEqual([
          {
            id: expect.any(String) as string,
            organizations: [{ id: org.organizationId, slug: expect.any(String) as string }],
            provider: 'AWS',
            resourceType: 'SECURITY_GROUP',
            identifier: expect.stringContaining(group(0)) as string,
            address: '203.0.113.2/32',
            protocol: 'tcp',
            ports: '22',
            credentialId: org.credentialId,
            cause: 'SESSION_STOPPED',
            unwantedSince: expect.any(String) as string,
            lastError: expect.any(String) as string,
          },
        ]);
      }
      await drawbridge.query(`UPDATE users SET platform_role = 'CUSTOMER' WHERE id = $1`, [org.adminId]);
    });

    it('prints it with drawbridge-admin overdue, and exits with 1', async () => {
      const table = await overdue();
      expect(table.code).toBe(1);
      expect(table.stdout).toMatch(
        /'203\.0\.113\.2\/32' +│ +'tcp' +│ +'22' +│ +'[0-9a-f-]{36}' +│ +'SESSION_STOPPED'/,
      );
      const json = await overdue('--json');
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject([{ address: '203.0.113.2/32' }]);
    });

    it('and when it no longer is', async () => {
      await drawbridge.cloud.clearFaults();
      await until('nothing is overdue', async () => (await metric('drawbridge_overdue_rules')) === 0);
      expect(await overdue()).toMatchObject({ code: 0, stdout: 'Nothing is overdue.\n' });
    });
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
