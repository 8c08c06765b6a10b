import { exchange, githubTrust, jobClaims, type OidcTrust, type TokenCheck } from '../builders/sso/oidc';
import { organization, type Organization } from '../builders/accounts/organization';
import { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { newKey, OidcIssuer, type Behaviour } from '../harness/issuers/oidc-issuer';

const BEHAVIOURS: readonly (readonly [Behaviour, string])[] = [
  ['down', 'it answered 503 instead of 200'],
  ['redirect', 'it answered 302 instead of 200'],
  ['long', 'it did not answer, or not within the limits of 5 seconds and 64 kB'],
  ['slow', 'it did not answer, or not within the limits of 5 seconds and 64 kB'],
  ['other-name', 'its discovery document names another issuer'],
  ['not-json', 'it did not answer with a JSON object'],
];

let drawbridge: Drawbridge;
let issuer: OidcIssuer;
let broken: OidcIssuer[];
let org: Organization;
let issuers: string;

beforeAll(async () => {
  issuer = await OidcIssuer.start();
  broken = await Promise.all(BEHAVIOURS.map(() => OidcIssuer.start()));
  issuers = [issuer, ...broken].map(({ url }) => url).join(',');
  drawbridge = await Drawbridge.start({ worker: false, api: { OIDC_ISSUERS: issuers } });
  org = await organization(drawbridge);
});
afterAll(async () => {
  await drawbridge.stop();
  await Promise.all([issuer, ...broken].map((each) => each.stop()));
});

/** The same token with the other signature that ES256 allows: `n - s` in place of `s`. */
function otherSignature(token: string): string {
  const signed = token.slice(0, token.lastIndexOf('.'));
  const signature = Buffer.from(token.slice(signed.length + 1), 'base64url');
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = order - BigInt(`0x${signature.toString('hex', 32)}`);
  const other = Buffer.from(s.toString(16).padStart(64, '0'), 'hex');
  return `${signed}.${Buffer.concat([signature.subarray(0, 32), other]).toString('base64url')}`;
}

const tokenOf = (from: OidcIssuer, { audience }: OidcTrust, key = from.keys[0]!): Promise<string> =>
  from.sign(jobClaims(from, audience), {}, key);
const signatureFound = async (
  admin: ApiClient,
  { id }: OidcTrust,
  idToken: string,
): Promise<string | null> => {
  const checks = await admin.posted<TokenCheck[]>(`/oidc-trusts/${id}/explain`, { idToken });
  return checks.find(({ claim }) => claim === 'signature')!.found;
};

it.each(BEHAVIOURS)(
  'An issuer that is %s from the start: refused, and the reason is explained',
  async (behaviour, reason) => {
    const from = broken[BEHAVIOURS.findIndex(([name]) => name === behaviour)]!;
    from.behaviour = behaviour;
    const trust = await githubTrust(org, from);
    const idToken = await tokenOf(from, trust);
    expect((await exchange(drawbridge, idToken, trust.id)).status).toBe(401);
    expect(await signatureFound(org.admin, trust, idToken)).toBe(
      `not verified: the issuer’s keys cannot be read: ${reason}`,
    );
    expect(from.requests.some((path) => path.startsWith('/moved'))).toBe(false);
  },
);

it('A token without kid and jti is accepted once, and only while the issuer has one key', async () => {
  const single = await OidcIssuer.start();
  single.keys = [await newKey('ES256', 'only')];
  const api = await drawbridge.startApi({ OIDC_ISSUERS: single.url });
  const admin = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
  const trust = await githubTrust({ admin }, single);
  const unnamed = (): Promise<string> =>
    single.sign({ ...jobClaims(single, trust.audience), jti: undefined }, { kid: undefined });
  const status = async (idToken: string): Promise<number> =>
    (await exchange({ api: admin.as(null) }, idToken, trust.id)).status;
  const idToken = await unnamed();
  expect(await status(idToken)).toBe(200);
  expect(await status(otherSignature(idToken))).toBe(401);
  single.keys = [...single.keys, await newKey('ES256', 'other')];
  const fresh = await drawbridge.startApi({ OIDC_ISSUERS: single.url });
  const later = new ApiClient(`http://127.0.0.1:${fresh.port}/api/v1`, org.admin.identity);
  const checks = await later.posted<TokenCheck[]>(`/oidc-trusts/${trust.id}/explain`, { idToken });
  expect(checks.filter(({ claim }) => claim === 'kid')).toEqual([
    { claim: 'kid', wanted: 'there: the issuer does not have exactly one key', found: null, ok: false },
  ]);
  await single.stop();
});

it('A new key of an issuer is known with its first token, and one that it withdrew is not accepted any more', async () => {
  const trust = await githubTrust(org, issuer);
  const statusOf = async (key = issuer.keys[0]!): Promise<number> =>
    (await exchange(drawbridge, await tokenOf(issuer, trust, key), trust.id)).status;
  const [former] = issuer.keys;
  expect(await statusOf()).toBe(200);
  issuer.keys = [await newKey('RS256', 'rotated')];
  expect([await statusOf(), await statusOf(former)]).toEqual([200, 401]);
});

it('An issuer in a network that the deployment does not reach gets no request', async () => {
  const trust = await githubTrust(org, issuer);
  const api = await drawbridge.startApi({ OIDC_ISSUERS: issuers, TENANT_URL_NETWORKS: '' });
  const asked = issuer.requests.length;
  const admin = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
  const { audience } = await admin.expect(200, admin.get<OidcTrust>(`/oidc-trusts/${trust.id}`));
  const idToken = await tokenOf(issuer, { ...trust, audience });
  expect((await exchange({ api: admin.as(null) }, idToken)).status).toBe(401);
  expect(await signatureFound(admin, trust, idToken)).toContain('this deployment does not reach');
  expect(issuer.requests).toHaveLength(asked);
});

it('An issuer that the operator no longer allows is refused', async () => {
  const trust = await githubTrust(org, issuer);
  const api = await drawbridge.startApi({ OIDC_ISSUERS: 'https://gitlab.com' });
  const admin = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`, org.admin.identity);
  const { audience } = await admin.expect(200, admin.get<OidcTrust>(`/oidc-trusts/${trust.id}`));
  const idToken = await tokenOf(issuer, { ...trust, audience });
  expect((await exchange({ api: admin.as(null) }, idToken)).status).toBe(401);
});
