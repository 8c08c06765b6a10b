import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownOrganization } from '../builders/accounts/organization';
import { drawbridgeAdmin } from '../harness/product/admin';
import { ApiClient, type Credential } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

type Federated = Credential & { readonly identity: { readonly issuer: string; readonly subject: string } };

/** No name below `.invalid` exists: no cloud reaches this issuer. */
const ISSUER_URL = 'https://drawbridge.invalid/oidc';

describe('A deployment whose issuer no cloud reaches', () => {
  const masterKeys = `1:${randomBytes(32).toString('base64')}`;
  const settings = { MASTER_KEYS: masterKeys, OIDC_ISSUER_URL: ISSUER_URL };
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-closed-'));
  const drawbridge = Drawbridge.own({ worker: false, api: settings });
  const org = ownOrganization(drawbridge, []);
  let credential: Federated;

  beforeAll(async () => {
    credential = await org.admin.expect(
      201,
      org.admin.post<Federated>('/credentials', {
        name: 'Closed',
        provider: 'GCP',
        credentialType: 'FEDERATION',
        credentialData: {
          project_id: 'simulated-project',
          projectNumber: '123456789012',
          poolId: 'drawbridge',
          providerId: 'main',
        },
      }),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const identityKeys = async (...given: string[]): Promise<void> => {
    const env = { DATABASE_URL: drawbridge.databaseUrl, MASTER_KEYS: masterKeys };
    expect(await drawbridgeAdmin(env, ['identity-keys', ...given])).toMatchObject({ code: 0 });
  };
  const trust = (jwks?: unknown): Promise<void> => {
    const { issuer, subject } = credential.identity;
    return drawbridge.cloud.trust({ provider: 'GCP', issuer, subject, jwks });
  };
  /** What an administrator does, and does again after each change of the keys. */
  const upload = async (): Promise<void> => {
    await identityKeys('files', '--issuer', credential.identity.issuer, '--to', folder);
    await trust(JSON.parse(readFileSync(join(folder, 'jwks'), 'utf8')));
  };
  const verified = (admin = org.admin): Promise<Credential> =>
    admin.expect(200, admin.post<Credential>(`/credentials/${credential.id}/verify`));

  it('is trusted by Google Cloud through its uploaded keys, and after their loss through the new ones', async () => {
    await trust();
    const unreachable = await verified();
    expect(unreachable.isValid).not.toBe(true);
    expect(unreachable.verificationError).toContain('Error connecting');

    await upload();
    expect(await verified()).toMatchObject({ isValid: true, verificationError: null });

    await identityKeys('revoke');
    // the other process signs with the revoked key for up to a minute
    const api = await drawbridge.startApi(settings);
    const admin = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
    expect((await verified(admin)).verificationError).toContain('The key of the ID Token is not known');

    await upload();
    expect(await verified(admin)).toMatchObject({ isValid: true, verificationError: null });
  });
});
