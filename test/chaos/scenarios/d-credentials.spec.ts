import { randomBytes } from 'node:crypto';
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
    await drawbridge.startWorker(both);
  });
  beforeEach(async () => {
    bench = await FaultBench.begin(drawbridge, index);
    index += 1;
  });
  afterEach(() => bench.holds());

  const isOpen = async (): Promise<boolean> => (await bench.addresses()).includes(ADDRESS);

  it('with a revoked credential nothing is shown as REMOVED, and a new one closes it without a restart [D1, D2]', async () => {
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'unauthenticated', caller: SIMULATED_KEY.accessKeyId });
    await bench.stop(id);
    await until('it is refused', async () =>
      (await bench.calls()).some(({ outcome }) => outcome === 'AuthFailure'),
    );
    expect(await bench.org.session(id)).toMatchObject({
      status: 'EXPIRING',
      resourceIps: [{ status: 'REMOVING', removedAt: null }],
    });
    expect(await isOpen()).toBe(true);
    const { admin, credentialId } = bench.org;
    const rotation = admin.patch(`/credentials/${credentialId}`, { credentialData: SECOND_KEY });
    await admin.expect(200, rotation);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await isOpen()).toBe(false);
    await fault.clear();
  });

  it('the secrets of a credential are kept until the last rule written with it is removed [D6]', async () => {
    const { admin, credentialId, resourceIds } = bench.org;
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await bench.stop(id);
    await bench.met('Revoke', 'UnauthorizedOperation');
    expect(await admin.delete(`/credentials/${credentialId}`)).toMatchObject({
      status: 400,
      body: { error: 'CREDENTIAL_IN_USE' },
    });
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
