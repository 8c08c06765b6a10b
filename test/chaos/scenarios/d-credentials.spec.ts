import { randomBytes } from 'node:crypto';
import { auditRecords } from '../../builders/audit/audit-trail';
import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { SIMULATED_KEY } from '../../builders/accounts/organization';
import { drawbridgeAdmin } from '../../harness/product/admin';
import { until } from '../../harness/until';

const ADDRESS = '203.0.113.1';
const SECOND_KEY = {
  accessKeyId: 'AKIASIMULATED0000002',
  secretAccessKey: 'simulated-second-secret-access-key',
};

const newKey = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;

describe('D. Credentials and permissions', () => {
  const oldMaster = newKey(1);
  const newMaster = newKey(2);
  const both = { MASTER_KEYS: `${oldMaster},${newMaster}` };
  const drawbridge = ownForFaults({ worker: false, api: { MASTER_KEYS: oldMaster } });
  let bench: FaultBench;
  let index = 0;

  beforeAll(async () => {
    await drawbridge.startWorker({ ...both, METRICS_PORT: '0' });
  });
  beforeEach(async () => {
    bench = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
  });
  afterEach(() => bench.holds());

  const rotate = async (): Promise<void> => {
    const body = { credentialData: SECOND_KEY };
    await bench.org.admin.expect(200, bench.org.admin.patch(`/credentials/${bench.org.credentialId}`, body));
  };
  const isOpen = async (): Promise<boolean> => (await bench.addresses()).includes(ADDRESS);
  const verify = (): ReturnType<typeof bench.org.admin.post> =>
    bench.org.admin.post(`/resources/${bench.org.resourceIds[0]}/verify`);

  it('after a rotation of its credential a session is closed with the new one, without a restart [D1]', async () => {
    const id = await bench.open(ADDRESS);
    await rotate();
    const fault = await bench.breaks({ kind: 'unauthenticated', caller: SIMULATED_KEY.accessKeyId });
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await isOpen()).toBe(false);
    expect((await bench.calls()).filter((call) => call.outcome === 'AuthFailure')).toEqual([]);
    await fault.clear();
  });

  it('with a revoked credential nothing is shown as REMOVED: it is reported within a minute, and closed with a new credential [D2]', async () => {
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'unauthenticated', caller: SIMULATED_KEY.accessKeyId });
    await bench.stop(id);
    const report = await until(
      'the alarm is recorded',
      async () =>
        (await auditRecords(bench.org.admin)).find(
          (record) => record.eventType === 'RULE_REVOCATION_OVERDUE',
        ),
      120_000,
    );
    expect(report.errorMessage).toContain('AuthFailure');
    const metrics = await fetch(`http://127.0.0.1:${drawbridge.worker.port}/metrics`).then((answer) =>
      answer.text(),
    );
    expect(metrics).toMatch(/^drawbridge_overdue_rules\{provider="AWS"\} 1$/m);
    expect(await bench.org.session(id)).toMatchObject({
      status: 'EXPIRING',
      resourceIps: [{ status: 'REMOVING', removedAt: null }],
    });
    expect(await isOpen()).toBe(true);
    await rotate();
    await bench.org.reaches(id, 'CANCELLED');
    expect(await isOpen()).toBe(false);
    await fault.clear();
  });

  it.each([
    ['RevokeSecurityGroupIngress', 'D3'],
    ['AuthorizeSecurityGroupIngress', 'D3'],
    ['DescribeSecurityGroupRules', 'D4'],
  ])('a credential without %s fails verification [%s]', async (operation) => {
    const fault = await bench.breaks({ kind: 'refuse', operation });
    expect(await verify()).toMatchObject({
      status: 400,
      body: {
        error: 'VERIFICATION_FAILED',
        message: expect.stringContaining('UnauthorizedOperation') as string,
      },
    });
    expect(await bench.org.admin.get(`/resources/${bench.org.resourceIds[0]}`)).toMatchObject({
      body: { isActive: false },
    });
    expect((await bench.org.start({ ipv4Address: ADDRESS })).status).toBe(400);
    await fault.clear();
    expect((await verify()).status).toBe(200);
    const id = await bench.open(ADDRESS);
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
  });

  it('the secrets of a credential are kept until the last rule written with it is removed [D6]', async () => {
    const { admin, credentialId, resourceIds } = bench.org;
    const id = await bench.open(ADDRESS);
    const inUse = { status: 400, body: { error: 'CREDENTIAL_IN_USE' } };
    expect(await admin.delete(`/credentials/${credentialId}`)).toMatchObject(inUse);
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await bench.stop(id);
    await bench.met('Revoke', 'UnauthorizedOperation');
    expect(await admin.delete(`/credentials/${credentialId}`)).toMatchObject(inUse);
    expect(await isOpen()).toBe(true);
    await fault.clear();
    await bench.org.reaches(id, 'CANCELLED');
    expect((await admin.delete(`/resources/${resourceIds[0]}`)).status).toBe(204);
    expect((await admin.delete(`/credentials/${credentialId}`)).status).toBe(204);
    await drawbridge.query('UPDATE credentials SET check_due_at = now() WHERE id = $1', [credentialId]);
    await until(
      'its secrets are deleted',
      async () =>
        (await drawbridge.query('SELECT FROM credentials WHERE id = $1', [credentialId])).length === 0,
    );
  });

  it('a worker without the master key does not start, and nothing is shown as closed meanwhile [D7]', async () => {
    const id = await bench.open(ADDRESS);
    await drawbridge.worker.stop();
    const window = bench.watch.fault('the master key is missing');
    await expect(drawbridge.startWorker({ MASTER_KEYS: newKey(9) })).rejects.toThrow(
      'MASTER_KEYS must open what is stored',
    );
    await bench.stop(id);
    const started = await bench.start('203.0.113.2');
    expect((await bench.org.session(id)).status).toBe('EXPIRING');
    expect(await isOpen()).toBe(true);
    await drawbridge.startWorker(both);
    window.end();
    await bench.org.reaches(id, 'CANCELLED');
    await bench.org.reaches(started.id, 'ACTIVE');
    await bench.stop(started.id);
    await bench.org.reaches(started.id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
  });

  it('no session fails while the master key is rotated [D8]', async () => {
    const cycle = async (address: string): Promise<void> => {
      const id = await bench.open(address);
      await bench.stop(id);
      await bench.org.reaches(id, 'CANCELLED');
    };
    const cycles = Promise.all([1, 2, 3, 4].map((last) => cycle(`203.0.113.${last}`)));
    const env = { DATABASE_URL: drawbridge.databaseUrl, ...both };
    expect(await drawbridgeAdmin(env, ['rotate-master-key'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('under master key version 2') as string,
    });
    await cycles;
    await drawbridge.worker.stop();
    await drawbridge.startWorker({ MASTER_KEYS: newMaster });
    await cycle('203.0.113.5');
    const refused = (await bench.calls()).filter((call) => call.outcome !== 'OK');
    expect(refused).toEqual([]);
  });
});
