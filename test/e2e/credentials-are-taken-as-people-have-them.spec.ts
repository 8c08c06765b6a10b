import { KEY_FILE } from '../../apps/simulator/src/gcp/service-account';
import { ownOrganization, SIMULATED_KEY } from '../builders/accounts/organization';
import type { Credential } from '../harness/product/api-client';
import { containing } from '../harness/matching';
import { Drawbridge } from '../harness/product/drawbridge';

const GCP = { provider: 'GCP', credentialType: 'SERVICE_ACCOUNT' };
const FEDERATION = { provider: 'GCP', credentialType: 'FEDERATION' };
const AZURE = { provider: 'AZURE', credentialType: 'SERVICE_PRINCIPAL' };
const AWS = { provider: 'AWS', credentialType: 'ACCESS_KEY' };
const VERCEL = { provider: 'VERCEL', credentialType: 'TOKEN' };

const PEM = KEY_FILE.private_key;
const FILE = JSON.stringify(KEY_FILE);
const subscriptionId = '00000000-0000-4000-8000-000000000001';
const PRINCIPAL = {
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
  clientSecret: 'simulated-client-secret',
  subscriptionId,
};
const AUTH = { ...PRINCIPAL, galleryEndpointUrl: 'https://gallery.azure.com/' };
/** What `gcloud iam workload-identity-pools create-cred-config` writes, but for where it leads. */
const EXTERNAL_ACCOUNT = {
  type: 'external_account',
  audience:
    '//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/drawbridge/providers/main',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'http://192.0.2.1/steal',
  service_account_impersonation_url:
    'http://192.0.2.1/v1/projects/-/serviceAccounts/simulated@simulated-project.iam.gserviceaccount.com:generateAccessToken',
  credential_source: { file: '/etc/passwd', format: { type: 'text' } },
};
const PROJECT = { project_id: 'simulated-project' };
/** What `az ad sp create-for-rbac` prints. */
const CREATED_FOR_RBAC = {
  appId: PRINCIPAL.clientId,
  displayName: 'drawbridge',
  password: PRINCIPAL.clientSecret,
  tenant: PRINCIPAL.tenantId,
};
/** What `aws iam create-access-key` prints. */
const CREATED_KEY = {
  AccessKey: {
    UserName: 'drawbridge',
    AccessKeyId: SIMULATED_KEY.accessKeyId,
    Status: 'Active',
    SecretAccessKey: SIMULATED_KEY.secretAccessKey,
  },
};

const TEAM_BY_NAME = { token: 'simulated-vercel-token', teamId: 'acme' };
const VARIABLES = {
  AWS_ACCESS_KEY_ID: SIMULATED_KEY.accessKeyId,
  AWS_SECRET_ACCESS_KEY: SIMULATED_KEY.secretAccessKey,
};

const VALID = { isValid: true, verificationError: null };

/** A credential is valid in every form in which people have it, or refused with the field and what to do. */
describe('Pasted credentials', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  const verified = ({ id }: Credential): Promise<Credential> =>
    org.admin.posted<Credential>(`/credentials/${id}/verify`);

  it.each<[string, object, unknown]>([
    ['a key file with \\n for line breaks', GCP, { ...KEY_FILE, private_key: PEM.replaceAll('\n', '\\n') }],
    ['a key file as a string', GCP, FILE],
    ['a key file as base64', GCP, Buffer.from(FILE).toString('base64')],
    ['a key file as a string in one field', GCP, { keyFile: FILE }],
    ['a key file as a string in the field of the key', GCP, { private_key: FILE }],
    ['an empty optional field', GCP, { ...KEY_FILE, private_key_id: '' }],
    ['the output of create-for-rbac and the subscription', AZURE, { ...CREATED_FOR_RBAC, subscriptionId }],
    ['the output of create-for-rbac --json-auth', AZURE, JSON.stringify(AUTH)],
    ['a tenant by its domain', AZURE, { ...PRINCIPAL, tenantId: 'simulated.onmicrosoft.com' }],
    ['an empty session token', AWS, { ...SIMULATED_KEY, sessionToken: ' ' }],
    ['the output of create-access-key', AWS, CREATED_KEY],
    ['environment variables', AWS, VARIABLES],
    ['an empty team', VERCEL, { token: 'simulated-vercel-token', teamId: '' }],
  ])('%s is accepted and valid', async (name, kind, credentialData) => {
    const body = { name, ...kind, credentialData };
    const created = await org.admin.created<Credential>('/credentials', body);
    expect(await verified(created)).toMatchObject(VALID);
  });

  it.each<[string, unknown]>([
    ['its fields and the project', { ...PROJECT, ...EXTERNAL_ACCOUNT }],
    ['a string, with the project', JSON.stringify({ ...PROJECT, ...EXTERNAL_ACCOUNT })],
    ['a string in one field', { ...PROJECT, file: JSON.stringify(EXTERNAL_ACCOUNT) }],
    ['a string in the field of an id', { ...PROJECT, poolId: JSON.stringify(EXTERNAL_ACCOUNT, null, 2) }],
    ['an object in one field', { ...PROJECT, file: EXTERNAL_ACCOUNT }],
  ])('a file of an external account as %s is accepted and valid, for its ids only', async (name, given) => {
    const body = { name, ...FEDERATION, credentialData: given };
    const created = await org.admin.created<Credential>('/credentials', body);
    expect(created.hints).toEqual({
      ...PROJECT,
      projectNumber: '123456789012',
      poolId: 'drawbridge',
      providerId: 'main',
      serviceAccountEmail: 'simulated@simulated-project.iam.gserviceaccount.com',
    });
    const { issuer, subject } = created.identity!;
    await drawbridge.cloud.trust({ provider: 'GCP', issuer, subject });
    expect(await verified(created)).toMatchObject(VALID);
  });

  it.each<[string, object, unknown, string]>([
    [
      'project_id of an external account',
      FEDERATION,
      EXTERNAL_ACCOUNT,
      'must be the id of the project whose networks are meant',
    ],
    [
      'type of an external account',
      GCP,
      { keyFile: JSON.stringify(EXTERNAL_ACCOUNT) },
      'must be service_account: no other kind of key is taken; a file of the type external_account belongs to the credentialType FEDERATION',
    ],
    [
      'subscriptionId',
      AZURE,
      CREATED_FOR_RBAC,
      'must be the id of the subscription: az account show --query id prints it',
    ],
    ['tenantId', AZURE, { ...PRINCIPAL, tenantId: 'contoso' }, 'must be the id of the tenant'],
    ['teamId', VERCEL, TEAM_BY_NAME, 'must be the id of a Vercel team, which begins with team_'],
    ['private_key', GCP, { ...KEY_FILE, private_key: PEM.slice(0, 500) }, 'must be a private key in PEM'],
    ['', GCP, FILE.slice(0, -20), 'must be an object, or its JSON as a string'],
  ])(
    '%s missing or in another form is refused with what to do',
    async (what, kind, credentialData, words) => {
      const body = { name: what || 'cut off', ...kind, credentialData };
      const { status, body: refused } = await org.admin.post<{ message: string }>('/credentials', body);
      const [field] = what.split(' ');
      expect([status, refused.message]).toEqual([
        400,
        containing(`credentialData${field && `.${field}`} ${words}`),
      ]);
      expect(refused.message).not.toContain(PEM.slice(100, 150));
    },
  );
});
