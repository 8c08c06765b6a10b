import { randomBytes } from 'node:crypto';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';

const newKey = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;

describe('A master key can be changed', () => {
  const old = newKey(1);
  const fresh = newKey(2);
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false, api: { MASTER_KEYS: old } });
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(() => drawbridge.stop());

  const rotate = (masterKeys: string, ...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl, MASTER_KEYS: masterKeys }, [
      'rotate-master-key',
      ...given,
    ]);

  it('rewraps every data key: the new master key alone decrypts existing data', async () => {
    const second = await organization(drawbridge, []);
    const run = await rotate(`${old},${fresh}`);
    expect(run).toMatchObject({
      code: 0,
      stdout: '2 data keys are now under master key version 2; none is left under another.\n',
    });
    const again = await rotate(`${old},${fresh}`);
    expect(again.stdout).toContain('0 data keys');
    const worker = await drawbridge.startWorker({ MASTER_KEYS: fresh });
    await org.reaches((await org.started({ ipv4Address: '203.0.113.5' })).id, 'ACTIVE');
    await worker.stop();
    expect(second.credentialId).not.toBe(org.credentialId);
  });

  it('changes nothing when a data key cannot be decrypted, and prints no key', async () => {
    const stranger = newKey(3);
    const run = await rotate(stranger);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('MASTER_KEYS must open what is stored');
    expect(run.stdout + run.stderr).not.toContain(stranger.slice(2));
    const rows = await drawbridge.query('SELECT 1 FROM data_keys WHERE master_key_version = 3');
    expect(rows).toEqual([]);
  });

  it('does not say that the old key can go when the newest is not the one that wraps', async () => {
    const run = await rotate(newKey(2));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('it lacks version 2, or has another key under it');
  });

  it('reports what is wrong with MASTER_KEYS, and supports --help', async () => {
    expect(await rotate('nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/MASTER_KEYS must be/) as string,
    });
    expect((await rotate(old, '--help')).stdout).toContain('In this order');
  });
});
