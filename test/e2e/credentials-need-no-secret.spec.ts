import { PROBE } from '../builders/sso/federated-identity';
import { group, ownOrganization } from '../builders/accounts/organization';
import type { Credential } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly setup: string;
}
type Federated = Credential & { readonly identity?: Identity };

interface Cloud {
  readonly provider: string;
  readonly credentialType: string;
  readonly credentialData: object;
  readonly resource: {
    readonly resourceType: string;
    readonly resourceIdentifier: string;
    readonly region?: string;
  };
  /** what the commands to paste begin with */
  readonly command: string;
  readonly audience: string;
  /** what the records of signatures name */
  readonly target: string;
}

const WORKLOAD = {
  project_id: 'simulated-project',
  projectNumber: '123456789012',
  poolId: 'drawbridge',
  providerId: 'main',
};
const WORKLOAD_PROVIDER =
  'projects/123456789012/locations/global/workloadIdentityPools/drawbridge/providers/main';
const WORKLOAD_AUDIENCE = `https://iam.googleapis.com/${WORKLOAD_PROVIDER}`;
const SERVICE_ACCOUNT = 'simulated@simulated-project.iam.gserviceaccount.com';

const CLOUDS: readonly Cloud[] = [
  {
    provider: 'AWS',
    credentialType: 'WEB_IDENTITY',
    credentialData: { roleArn: 'arn:aws:iam::123456789012:role/federated' },
    resource: { resourceType: 'SECURITY_GROUP', resourceIdentifier: group(0), region: 'eu-central-1' },
    command: 'aws iam create-open-id-connect-provider',
    audience: 'sts.amazonaws.com',
    target: 'arn:aws:iam::123456789012:role/federated',
  },
  {
    provider: 'GCP',
    credentialType: 'FEDERATION',
    credentialData: WORKLOAD,
    resource: { resourceType: 'FIREWALL', resourceIdentifier: 'default' },
    command: 'gcloud iam workload-identity-pools create',
    audience: WORKLOAD_AUDIENCE,
    target: WORKLOAD_PROVIDER,
  },
  {
    provider: 'AZURE',
    credentialType: 'FEDERATED',
    credentialData: {
      tenantId: '00000000-0000-4000-8000-000000000002',
      clientId: '00000000-0000-4000-8000-000000000003',
      subscriptionId: '00000000-0000-4000-8000-000000000001',
    },
    resource: { resourceType: 'NETWORK_SECURITY_GROUP', resourceIdentifier: 'simulated-group/simulated-nsg' },
    command: 'az ad app federated-credential create',
    audience: 'api://AzureADTokenExchange',
    target: '00000000-0000-4000-8000-000000000002/00000000-0000-4000-8000-000000000003',
  },
];

describe('Credentials need no secret', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);

  const created = (
    cloud: Pick<Cloud, 'provider' | 'credentialType' | 'credentialData'>,
  ): Promise<Federated> =>
    org.admin.created<Federated>('/credentials', {
      name: `${cloud.provider} without a secret`,
      provider: cloud.provider,
      credentialType: cloud.credentialType,
      credentialData: cloud.credentialData,
    });
  const verified = (id: string): Promise<Federated> =>
    org.admin.posted<Federated>(`/credentials/${id}/verify`);
  /** What the account's administrator does. */
  const trusts = (provider: string, { issuer, subject }: Identity, hasCondition = true): Promise<void> =>
    drawbridge.cloud.trust({ provider, issuer, ...(hasCondition && { subject }) });
  const signatures = (
    id: string,
  ): Promise<{ details: { audience: string; subject: string; target: string } }[]> =>
    drawbridge.query(
      `SELECT details FROM audit_records WHERE event_type = 'IDENTITY_TOKEN_SIGNED' AND resource_id = $1`,
      [id],
    );

  it.each(CLOUDS)('$provider opens and closes an address through its trust', async (cloud) => {
    const { id, identity } = await created(cloud);
    expect(identity!.setup).toContain(cloud.command);
    expect(identity!.setup).toContain(identity!.subject);
    expect((await verified(id)).isValid).not.toBe(true);

    await trusts(cloud.provider, identity!, false);
    const careless = await verified(id);
    expect(careless).toMatchObject({ isValid: false });
    expect(careless.verificationError).toContain('any subject');

    await trusts(cloud.provider, identity!);
    expect(await verified(id)).toMatchObject({ isValid: true, verificationError: null });
    const resourceId = await resource(cloud, id);
    const session = await org.opened({ ipv4Address: '203.0.113.50', resourceIds: [resourceId] });
    await org.closed(session.id);

    const signed = (await signatures(id)).map(({ details }) => details);
    const probe = `org:${org.organizationId}:credential:${PROBE}`;
    expect(new Set(signed.map(({ audience }) => audience))).toEqual(new Set([cloud.audience]));
    expect(new Set(signed.map(({ target }) => target))).toEqual(new Set([cloud.target]));
    expect(new Set(signed.map(({ subject }) => subject))).toEqual(new Set([identity!.subject, probe]));
  });

  it('GCP acts as a service account, which a pasted file of gcloud names', async () => {
    const { id, identity, hints } = await created({
      provider: 'GCP',
      credentialType: 'FEDERATION',
      credentialData: {
        project_id: 'simulated-project',
        type: 'external_account',
        audience: WORKLOAD_AUDIENCE.replace('https:', ''),
        token_url: 'http://192.0.2.1/steal',
        credential_source: { executable: { command: '/bin/false' } },
        service_account_impersonation_url: `http://192.0.2.1/v1/projects/-/serviceAccounts/${SERVICE_ACCOUNT}:generateAccessToken`,
      },
    });
    expect(hints).toEqual({ ...WORKLOAD, serviceAccountEmail: SERVICE_ACCOUNT });
    await trusts('GCP', identity!);
    expect(await verified(id)).toMatchObject({ isValid: true });
    const targets = (await signatures(id)).map(({ details }) => details.target);
    expect(new Set(targets)).toEqual(new Set([`${WORKLOAD_PROVIDER} as ${SERVICE_ACCOUNT}`]));
  });

  it('GCP takes the keys of an issuer that it does not reach as a file', async () => {
    const { id, identity } = await created(CLOUDS[1]!);
    const { issuer, subject } = identity!;
    const upload = (jwks: unknown): Promise<void> =>
      drawbridge.cloud.trust({ provider: 'GCP', issuer, subject, jwks });
    // the first token makes the first key
    await verified(id);
    // the same as drawbridge-admin identity-keys files writes
    const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: object[] };
    await upload({ keys: keys.map((key) => ({ ...key, kid: 'another' })) });
    expect((await verified(id)).verificationError).toContain('The key of the ID Token is not known');
    await upload({ keys });
    expect(await verified(id)).toMatchObject({ isValid: true, verificationError: null });
  });

  it('a new one is left in peace for an hour, while its trust is made', async () => {
    const { id } = await created(CLOUDS[0]!);
    const [row] = await drawbridge.query<{ seconds: number }>(
      `SELECT extract(epoch FROM check_due_at - now())::float8 AS seconds FROM credentials WHERE id = $1`,
      [id],
    );
    expect(row!.seconds).toBeGreaterThan(3500);
    expect(row!.seconds).toBeLessThanOrEqual(3600);
    expect(await signatures(id)).toEqual([]);
  });

  async function resource({ provider, resource: named }: Cloud, credentialId: string): Promise<string> {
    const { id } = await org.admin.created<{ id: string }>('/resources', {
      name: `${provider} by trust`,
      provider,
      credentialId,
      config: { port: 22 },
      ...named,
    });
    await org.admin.posted(`/resources/${id}/verify`);
    await org.admin.posted(`/roles/${org.roleId}/resources/${id}`);
    return id;
  }
});
