import {
  DriverRegistry,
  type DriverCredential,
  type DriverError,
  type IdentityTokens,
  type CloudDriver,
} from '#drivers';
import type { Provider } from '#rules';
import { LocalServer } from '../harness/network/local-server';

type Refusal = readonly [message: string, status: number, body: string];

const identity: IdentityTokens = {
  issuer: 'https://drawbridge.example.com/oidc/one',
  subject: 'org:one:credential:one',
  probeSubject: 'org:one:credential:none',
  sign: (audience, subject) => Promise.resolve(`token-for-${audience}-of-${subject}`),
};

const aws = (code: string, message: string, status = 400): Refusal => [
  code,
  status,
  `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
];
const google = (error: string, description: string, status = 400): Refusal => [
  description,
  status,
  JSON.stringify({ error, error_description: description }),
];
const entra = (number: number, description: string, error = 'invalid_client', status = 401): Refusal => [
  `AADSTS${number}`,
  status,
  JSON.stringify({ error, error_description: `AADSTS${number}: ${description}`, error_codes: [number] }),
];

const UNREACHABLE = "Couldn't retrieve verification key from your identity provider";

const POOL = { project_id: 'p', projectNumber: '123456789012', poolId: 'pool', providerId: 'main' };
const CREDENTIALS = {
  AWS: typed('WEB_IDENTITY', { roleArn: 'arn:aws:iam::123456789012:role/x' }),
  GCP: typed('FEDERATION', POOL),
  AZURE: typed('FEDERATED', {
    tenantId: '00000000-0000-4000-8000-000000000002',
    clientId: '00000000-0000-4000-8000-000000000003',
    subscriptionId: '00000000-0000-4000-8000-000000000001',
  }),
};

const CASES: readonly (readonly [keyof typeof CREDENTIALS, 'denied' | 'transient', Refusal])[] = [
  ['AWS', 'denied', aws('AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity', 403)],
  ['AWS', 'denied', aws('InvalidIdentityToken', 'Incorrect token audience')],
  [
    'AWS',
    'denied',
    aws('IDPRejectedClaim', 'The identity provider reported that authentication failed', 403),
  ],
  ['AWS', 'denied', aws('ExpiredTokenException', 'Token expired')],
  ['AWS', 'denied', aws('RegionDisabledException', 'STS is not activated in this region', 403)],
  ['AWS', 'transient', aws('IDPCommunicationError', 'The identity provider did not respond')],
  ['AWS', 'transient', aws('InvalidIdentityToken', UNREACHABLE)],
  [
    'GCP',
    'denied',
    google('unauthorized_client', 'The given credential is rejected by the attribute condition.', 401),
  ],
  [
    'GCP',
    'denied',
    google('invalid_grant', 'The audience in ID Token does not match the expected audience.'),
  ],
  [
    'GCP',
    'denied',
    google('invalid_target', 'The target service indicated by the "audience" parameters is invalid.'),
  ],
  ['GCP', 'transient', google('invalid_grant', "Error connecting to the given credential's issuer.")],
  ['GCP', 'transient', google('internal_failure', 'Backend Error', 503)],
  [
    'AZURE',
    'transient',
    entra(70021, 'No matching federated identity record found.', 'invalid_request', 400),
  ],
  ['AZURE', 'transient', entra(700211, 'No matching record for the presented assertion issuer.')],
  ['AZURE', 'transient', entra(700213, 'No matching record for the presented assertion subject.')],
  ['AZURE', 'transient', entra(7002138, 'The subject differs in upper and lower case.')],
  ['AZURE', 'denied', entra(700024, 'Client assertion is not within its valid time range.')],
  [
    'AZURE',
    'denied',
    entra(700016, 'Application was not found in the directory.', 'unauthorized_client', 400),
  ],
];

function typed(credentialType: string, data: Record<string, string>): DriverCredential {
  return { credentialType, data, externalId: null, identity };
}

/** Of Google, by a service account. */
const ACCOUNT = typed('FEDERATION', {
  ...POOL,
  serviceAccountEmail: 'drawbridge@p.iam.gserviceaccount.com',
});

describe('The exchange of a token', () => {
  let service: LocalServer;

  beforeAll(async () => {
    service = await LocalServer.start(() => ({ status: 500, body: '' }));
  });
  afterAll(() => service.stop());

  /** A driver whose token service answers what the test says. */
  const driverOf = (provider: Provider): Promise<CloudDriver> =>
    new DriverRegistry({
      AWS_ENDPOINT_URL_STS: service.url,
      GOOGLE_STS_URL: service.url,
      GOOGLE_IAM_CREDENTIALS_URL: service.url,
      AZURE_AUTHORITY_HOST: service.url,
    }).driver(provider);

  it.each(CASES.map(([provider, kind, refusal]) => [provider, refusal[0], kind, refusal] as const))(
    'of %s that is refused with "%s" is %s, and names the issuer and the subject, which the cloud does not',
    async (provider, message, kind, [, status, body]) => {
      service.requests.length = 0;
      service.answer = () => ({ status, body });
      const failure = (await driverOf(provider)).checkCredential(CREDENTIALS[provider]);
      await expect(failure).rejects.toMatchObject({ kind });
      await expect(failure).rejects.toThrow(message);
      await expect(failure).rejects.toThrow(`issuer ${identity.issuer}, about ${identity.subject}`);
      await expect(failure).rejects.not.toThrow('token-for-');
      // the probe follows a success only, and a driver does not retry
      expect(service.requests).toHaveLength(1);
      expect(service.requests[0]!.headers.authorization).toBeUndefined();
    },
  );

  it('of Azure with a trust that Entra has not known for ten minutes is denied; a success or a quiet time starts them anew', async () => {
    const driver = await driverOf('AZURE');
    const unknown = entra(700213, 'No matching record for the presented assertion subject.');
    const outcomeAfter = async (minutes: number, isKnown = false): Promise<unknown> => {
      // the probe with another subject is refused in any case
      let exchanges = 0;
      service.answer = () => {
        exchanges += 1;
        if (!isKnown || exchanges > 1) return { status: unknown[1], body: unknown[2] };
        return { body: JSON.stringify({ access_token: 'token', expires_in: 3599 }) };
      };
      now.mockReturnValue(start + minutes * 60_000);
      return driver.checkCredential(CREDENTIALS.AZURE).then(
        () => 'accepted',
        ({ kind }: DriverError) => kind,
      );
    };
    const start = Date.now();
    const now = vi.spyOn(Date, 'now');
    try {
      expect(await outcomeAfter(0)).toBe('transient');
      expect(await outcomeAfter(9.9)).toBe('transient');
      expect(await outcomeAfter(10)).toBe('denied');
      await outcomeAfter(11, true);
      expect(await outcomeAfter(12)).toBe('transient');
      expect(await outcomeAfter(22)).toBe('denied');
      // goes on while it is asked now and then
      expect(await outcomeAfter(36)).toBe('denied');
      // an administrator took a quarter of an hour to set the trust up: Entra may not know it yet
      expect(await outcomeAfter(52)).toBe('transient');
      expect(await outcomeAfter(61.9)).toBe('transient');
      expect(await outcomeAfter(62)).toBe('denied');
    } finally {
      now.mockRestore();
    }
  });

  it.each([
    ['AWS', 'WebIdentityToken', (token: string) => aws('InvalidIdentityToken', `Not valid: ${token}`)],
    ['GCP', 'subject_token', (token: string) => google('invalid_grant', `Not valid: ${token}`)],
    ['GCP', 'subject_token', (token: string) => google('internal', `Not valid: ${token}`, 503)],
    ['AZURE', 'client_assertion', (token: string) => entra(700024, `Not valid: ${token}`)],
  ] as const)('of %s hides a token that the refusal quotes (%s)', async (provider, field, refusalOf) => {
    service.answer = ({ body }) => {
      const [, status, text] = refusalOf(new URLSearchParams(body).get(field)!);
      return { status, body: text };
    };
    const failure = (await driverOf(provider)).checkCredential(CREDENTIALS[provider]);
    await expect(failure).rejects.toThrow('Not valid: [secret]');
    await expect(failure).rejects.not.toThrow('token-for-');
  });

  it.each([
    [
      'federated-token',
      'denied',
      "Permission 'iam.serviceAccounts.getAccessToken' denied for Bearer [secret]",
    ],
    // no header can have it
    ['federated\ntoken', 'transient', 'No response from Google: ERR_INVALID_CHAR'],
  ])(
    'with a service account of Google that the pool may not act as hides the token %j, and is %s',
    async (token, kind, words) => {
      service.answer = ({ path, headers }) => {
        if (path === '/v1/token') return { body: JSON.stringify({ access_token: token, expires_in: 3599 }) };
        const message = `Permission 'iam.serviceAccounts.getAccessToken' denied for ${headers.authorization}`;
        const error = { code: 403, message, status: 'PERMISSION_DENIED' };
        return { status: 403, body: JSON.stringify({ error }) };
      };
      const driver = await driverOf('GCP');
      const failure = driver.checkCredential(ACCOUNT);
      await expect(failure).rejects.toMatchObject({ kind });
      await expect(failure).rejects.toThrow(words);
      await expect(failure).rejects.not.toThrow(/federated\s*-?token/);
      await expect(failure).rejects.toThrow(`issuer ${identity.issuer}, about ${identity.subject}`);
    },
  );
});
