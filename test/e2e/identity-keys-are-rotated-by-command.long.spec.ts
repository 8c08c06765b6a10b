import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';

const masterKey = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;
const KID = /^[\w-]{43}/;

describe('Identity keys are rotated by a command', () => {
  const [old, fresh] = [masterKey(1), masterKey(2)];
  const root = 'https://drawbridge.example.com/oidc';
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-issuer-'));
  const drawbridge = Drawbridge.own({ worker: false, api: { MASTER_KEYS: old, OIDC_ISSUER_URL: root } });
  afterAll(() => rmSync(folder, { recursive: true }));

  const admin = (masterKeys: string, ...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl, MASTER_KEYS: masterKeys }, given);
  const identityKeys = (...given: string[]): Promise<AdminRun> => admin(old, 'identity-keys', ...given);
  const lines = async (): Promise<string[]> =>
    (await identityKeys('list')).stdout
      .trimEnd()
      .replaceAll(/^[\w-]{43} +/gm, '')
      .split('\n');

  it('the first one signs at once, the next one a day later, and one rotation waits for the other', async () => {
    expect(await lines()).toEqual(['There is no key yet: the first one is made when it is needed.']);
    expect((await identityKeys('rotate')).stdout).toMatch(KID);
    expect(await lines()).toEqual(['signs']);
    const second = await identityKeys('rotate');
    const [, signsFrom = ''] = / from (\S+)\. /.exec(second.stdout) ?? [];
    expect(Date.parse(signsFrom)).toBeGreaterThan(Date.now() + 24 * 3_600_000);
    expect(await lines()).toEqual(['signs', 'published, does not sign yet']);
    expect(await identityKeys('rotate')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('last rotation is not over') as string,
    });
  });

  it('writes what the issuer answers, for a static host and for clouds that take the keys as a file', async () => {
    const { organizationId } = await organization(drawbridge, []);
    const run = await identityKeys('files', '--issuer', `${root}/${organizationId}`, '--to', folder);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const served = `http://127.0.0.1:${drawbridge.apiServer.port}/oidc/${organizationId}`;
    for (const document of ['jwks', '.well-known/openid-configuration']) {
      const written: unknown = JSON.parse(readFileSync(join(folder, document), 'utf8'));
      const answer: unknown = await (await fetch(`${served}/${document}`)).json();
      expect(written).toEqual(answer);
    }
    expect(readFileSync(join(folder, 'jwks'), 'utf8')).not.toMatch(/"(d|p|q|dp|dq|qi)"/);
  });

  it('keys go to another master key with the data keys; a service without it does not start', async () => {
    const before = (await identityKeys('list')).stdout;
    const rewrapped = await admin(`${old},${fresh}`, 'rotate-master-key');
    expect(rewrapped).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2 identity keys') as string,
    });
    const api = await drawbridge.startApi({ MASTER_KEYS: fresh, OIDC_ISSUER_URL: root });
    await api.stop();
    expect((await identityKeys('list')).stdout).toBe(before);
    for (const [masterKeys, words] of [
      [masterKey(3), 'MASTER_KEYS must open what is stored'],
      [masterKey(2), 'it lacks version 2, or has another key under it'],
    ] as const) {
      const refused = await admin(masterKeys, 'rotate-master-key');
      expect(refused).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(words) as string,
      });
      expect(refused.stderr).not.toContain(masterKeys.slice(2));
    }
    await drawbridge.query('DELETE FROM data_keys');
    await expect(drawbridge.startApi({ MASTER_KEYS: old, OIDC_ISSUER_URL: root })).rejects.toThrow(
      'MASTER_KEYS must open the stored identity keys: it lacks version 2',
    );
  });

  it('after a loss all are replaced by one that signs at once', async () => {
    const before = (await identityKeys('list')).stdout;
    expect((await identityKeys('revoke')).code).toBe(0);
    expect(await lines()).toEqual(['signs']);
    expect(before).not.toContain((await identityKeys('list')).stdout.slice(0, 43));
  });

  it('reports what is wrong', async () => {
    for (const given of [[], ['list', 'rotate'], ['nonsense'], ['files'], ['--nonsense']])
      expect(await identityKeys(...given)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--help') as string,
      });
    const issuers = ['http://drawbridge.example.com', 'https://drawbridge.example.com:8443/oidc', 'nonsense'];
    for (const issuer of issuers)
      expect(await identityKeys('files', '--issuer', issuer, '--to', folder)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--issuer.* It must be an https address/) as string,
      });
    expect(await admin('nonsense', 'identity-keys', 'rotate')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/MASTER_KEYS must be/) as string,
    });
  });
});
