import { SIMULATED_KEY } from '../accounts/organization';

/** The body of POST /credentials. */
export interface CredentialBody {
  readonly name: string;
  readonly provider: string;
  readonly credentialType: string;
  readonly credentialData?: Readonly<Record<string, unknown>>;
}

const UUIDS = {
  subscriptionId: '00000000-0000-4000-8000-000000000001',
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
} as const;

export const SIMULATED_ROLE = 'arn:aws:iam::123456789012:role/simulated';
/** The deployment's own identity, which assumes the simulated role. */
export const OWN_KEYS = {
  DRAWBRIDGE_AWS_ACCESS_KEY_ID: SIMULATED_KEY.accessKeyId,
  DRAWBRIDGE_AWS_SECRET_ACCESS_KEY: SIMULATED_KEY.secretAccessKey,
} as const;

/**
 * A well-formed credential of every type.
 * @param mark text that every secret in them contains
 */
export function everyCredential(mark: string): (CredentialBody & { hints: object })[] {
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${mark}\n-----END PRIVATE KEY-----`;
  const google = {
    type: 'service_account',
    project_id: 'simulated-project',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: 'simulated@simulated-project.iam.gserviceaccount.com',
    token_uri: `https://example.com/${mark}`,
  };
  const of = (
    provider: string,
    credentialType: string,
    credentialData: Record<string, unknown> | undefined,
    hints: object,
  ): CredentialBody & { hints: object } => ({
    name: `${provider} ${credentialType}`,
    provider,
    credentialType,
    ...(credentialData ? { credentialData } : {}),
    hints,
  });
  const { accessKeyId } = SIMULATED_KEY;
  const { private_key_id, project_id, client_email } = google;
  return [
    of(
      'AWS',
      'ACCESS_KEY',
      { accessKeyId, secretAccessKey: `${mark}secret`, sessionToken: `${mark}session` },
      { accessKeyId },
    ),
    of('AWS', 'ASSUME_ROLE', { roleArn: SIMULATED_ROLE }, { roleArn: SIMULATED_ROLE }),
    of('GCP', 'SERVICE_ACCOUNT', google, { private_key_id, project_id, client_email }),
    of('AZURE', 'SERVICE_PRINCIPAL', { ...UUIDS, clientSecret: `${mark}client` }, UUIDS),
    of(
      'APISIX',
      'ADMIN_KEY',
      { adminUrl: 'https://gateway.example.com:9180/apisix', adminKey: `${mark}admin` },
      { adminUrl: 'https://gateway.example.com:9180/apisix' },
    ),
    of('VERCEL', 'TOKEN', { token: `${mark}token`, teamId: 'team_1' }, { teamId: 'team_1' }),
    of(
      'ATLAS',
      'SERVICE_ACCOUNT',
      { clientId: 'mdb_sa_id_1', clientSecret: `${mark}secret` },
      { clientId: 'mdb_sa_id_1' },
    ),
    of('AGENT', 'AGENT', undefined, {}),
  ];
}
