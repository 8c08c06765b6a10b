import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { identityClaims, now, PROBE } from '../builders/sso/federated-identity';
import { newKey, OidcIssuer, type Behaviour, type IssuerKey } from '../harness/issuers/oidc-issuer';

const SUBJECT = 'org:one:credential:one';
const PROVIDER = 'projects/123456789012/locations/global/workloadIdentityPools/drawbridge/providers/main';

interface Cloud {
  readonly name: string;
  readonly audience: string;
  /** Presents a token as the cloud's clients do. */
  readonly present: (url: string, token: string) => Promise<Response>;
  /** the refusal's own name, of the response's text */
  readonly reason: (text: string) => string | undefined;
}

const post = (url: string, form: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form) });

const CLOUDS: readonly Cloud[] = [
  {
    name: 'AWS',
    audience: 'sts.amazonaws.com',
    present: (url, token) =>
      post(`${url}/aws/sts/`, {
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::123456789012:role/federated',
        RoleSessionName: 'forged',
        WebIdentityToken: token,
      }),
    reason: (text) => /<Code>(.*?)<\/Code><Message>(.*?)<\/Message>/s.exec(text)?.slice(1).join(': '),
  },
  {
    name: 'GCP',
    audience: `https://iam.googleapis.com/${PROVIDER}`,
    present: (url, token) =>
      post(`${url}/gcp/sts/v1/token`, {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        audience: `//iam.googleapis.com/${PROVIDER}`,
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        subject_token: token,
      }),
    reason: (text) => /"error_description":\s*"(.*?)"[,}]/s.exec(text)?.[1],
  },
  {
    name: 'AZURE',
    audience: 'api://AzureADTokenExchange',
    present: (url, token) =>
      post(`${url}/azure/login/00000000-0000-4000-8000-000000000002/oauth2/v2.0/token`, {
        grant_type: 'client_credentials',
        client_id: '00000000-0000-4000-8000-000000000003',
        scope: 'https://management.azure.com/.default',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: token,
      }),
    reason: (text) => /AADSTS\d+/.exec(text)?.[0],
  },
];

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** The token with other claims and the old signature. */
const tampered = (token: string, changed: object): string => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  return [header, encoded({ ...claims, ...changed }), signature].join('.');
};

interface Forger {
  readonly issuer: OidcIssuer;
  /** of another organization, which the account trusts for another subject */
  readonly other: OidcIssuer;
  readonly untrusted: OidcIssuer;
  readonly stranger: IssuerKey;
  readonly audience: string;
}
type Claims = Record<string, unknown>;

const honest = ({ issuer, audience }: Forger): Claims => identityClaims(issuer, SUBJECT, audience);
/** Signed correctly, with other claims; undefined removes one. */
const claiming =
  (changed: (forger: Forger) => Claims) =>
  (forger: Forger): Promise<string> =>
    forger.issuer.sign({ ...honest(forger), ...changed(forger) });
const signedBy = (key: (forger: Forger) => IssuerKey) => (forger: Forger) =>
  forger.issuer.sign(honest(forger), {}, key(forger));
const unsigned = async (forger: Forger): Promise<string> =>
  `${encoded({ alg: 'none', kid: 'rsa', typ: 'JWT' })}.${encoded(honest(forger))}.`;

/** A symmetric signature with the public key as the secret: a verifier that lets the header choose accepts it. */
const confused = async (forger: Forger): Promise<string> => {
  const { publicJwk } = forger.issuer.key('rsa');
  const key = await importJWK({ ...publicJwk, ext: true }, 'RS256', { extractable: true });
  if (key instanceof Uint8Array) throw new Error('An RSA key was expected');
  const secret = await exportSPKI(key);
  const text = `${encoded({ alg: 'HS256', kid: 'rsa', typ: 'JWT' })}.${encoded(honest(forger))}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
/** Signed correctly; a verifier that ignores what it does not know accepts it. */
const withCriticalHeader = async (forger: Forger): Promise<string> => {
  const header = { alg: 'RS256', kid: 'rsa', typ: 'JWT', crit: ['x'], x: 1 };
  const text = `${encoded(header)}.${encoded(honest(forger))}`;
  const { privateKey } = forger.issuer.key('rsa');
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
};
/** The key that verifies it comes with the token. */
const withOwnKey = (forger: Forger) =>
  forger.issuer.sign(honest(forger), { jwk: forger.stranger.publicJwk, kid: 'stranger' }, forger.stranger);

const FORGED: readonly (readonly [string, (forger: Forger) => Promise<string>])[] = [
  ['alg none', unsigned],
  ['HS256 with the public key as the secret', confused],
  ['ES256 with a published key', signedBy(({ issuer }) => issuer.key('ec'))],
  ['another key under the known kid', signedBy(({ stranger }) => stranger)],
  ['a key in the header', withOwnKey],
  ['a critical header that is unknown', withCriticalHeader],
  ['a changed subject', async (forger) => tampered(await otherSubject(forger), { sub: SUBJECT })],
  [
    'an issuer that is not trusted',
    ({ untrusted, audience }) => untrusted.sign(identityClaims(untrusted, SUBJECT, audience)),
  ],
  [
    'the issuer of another organization',
    ({ other, audience }) => other.sign(identityClaims(other, SUBJECT, audience)),
  ],
  [
    'the trusted issuer named by another one',
    ({ issuer, other, audience }) =>
      other.sign(identityClaims(issuer, SUBJECT, audience), {}, other.key('rsa')),
  ],
  ['an issuer with a slash at its end', claiming(({ issuer }) => ({ iss: `${issuer.url}/` }))],
  ['an issuer that is a list', claiming(({ issuer }) => ({ iss: [issuer.url] }))],
  ['the subject of another credential', (forger) => otherSubject(forger)],
  ['the probe', claiming(() => ({ sub: `org:one:credential:${PROBE}` }))],
  ['a subject that begins like it', claiming(() => ({ sub: `${SUBJECT}0` }))],
  ['a subject that is a list', claiming(() => ({ sub: [SUBJECT] }))],
  ['a token for another cloud', claiming(() => ({ aud: 'https://elsewhere.example.com' }))],
  ['an audience in capitals', claiming(({ audience }) => ({ aud: audience.toUpperCase() }))],
  ['an expired token', claiming(() => ({ iat: now() - 900, nbf: now() - 960, exp: now() - 600 }))],
  ['a token from the future', claiming(() => ({ nbf: now() + 600 }))],
  ['a token that was issued in the future', claiming(() => ({ iat: now() + 600, exp: now() + 900 }))],
  ['a time with a fraction', claiming(() => ({ exp: now() + 300.5 }))],
  ['no subject', claiming(() => ({ sub: undefined }))],
  ['no audience', claiming(() => ({ aud: undefined }))],
  ['no expiry', claiming(() => ({ exp: undefined }))],
  ['no time of issue', claiming(() => ({ iat: undefined }))],
  ['no issuer', claiming(() => ({ iss: undefined }))],
  ['claims that are no object', ({ issuer }) => issuer.sign('"claims"')],
  ['nothing', () => Promise.resolve('')],
];

const otherSubject = claiming(() => ({ sub: 'org:one:credential:two' }));

describe.each(CLOUDS)('$name, simulated, shown a token', ({ name, audience, present, reason }) => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let forger: Forger;
  const reasons = new Set<string>();

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    const [issuer, other, untrusted] = await Promise.all([1, 2, 3].map(() => OidcIssuer.start()));
    forger = {
      issuer: issuer!,
      other: other!,
      untrusted: untrusted!,
      stranger: await newKey('RS256', 'rsa'),
      audience,
    };
    await trust(issuer!.url, SUBJECT);
    await trust(other!.url, 'org:two:credential:one');
  });
  afterAll(async () => {
    await Promise.all([forger.issuer, forger.other, forger.untrusted].map((one) => one.stop()));
    await simulator.close();
  });

  const trust = async (issuer: string, subject: string): Promise<void> => {
    const body = JSON.stringify({ provider: name, issuer, subject });
    expect((await fetch(`${simulator.url}/_trusts`, { method: 'PUT', body })).status).toBe(200);
  };

  it('accepts the correct one, and the same again until it expires', async () => {
    const token = await forger.issuer.sign(honest(forger));
    for (const _ of [1, 2]) expect((await present(simulator.url, token)).status).toBe(200);
  });

  it.each(FORGED)('refuses %s', async (_, forge) => {
    const response = await present(simulator.url, await forge(forger));
    const text = await response.text();
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(text).not.toMatch(/access_?token"|SessionToken/i);
    reasons.add(reason(text) ?? text);
  });

  it('says different things about different faults', () => {
    expect(reasons.size).toBeGreaterThanOrEqual(7);
  });

  it.each<Behaviour>(['down', 'redirect', 'other-name', 'not-json', 'slow'])(
    'refuses the correct one while the issuer is %s',
    async (behaviour) => {
      const token = await forger.issuer.sign(honest(forger));
      forger.issuer.behaviour = behaviour;
      try {
        expect((await present(simulator.url, token)).ok).toBe(false);
      } finally {
        forger.issuer.behaviour = 'well';
      }
      expect((await present(simulator.url, token)).ok).toBe(true);
    },
  );
});
