import { randomUUID } from 'node:crypto';
import { FORGERIES } from '../builders/sso/forged-id-tokens';
import type { ForgeryBench } from '../builders/sso/forgery';
import {
  exchange,
  githubTrust,
  jobClaims,
  type OidcTrust,
  type TokenCheck,
  type WorkloadToken,
} from '../builders/sso/oidc';
import { organization, type Organization } from '../builders/accounts/organization';
import { audited } from '../builders/accounts/people';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { newKey, OidcIssuer } from '../harness/issuers/oidc-issuer';

const MIN_FORGERIES = 60;
const MIN_REASONS = 60;

let drawbridge: Drawbridge;
let org: Organization;
let trust: OidcTrust;
let bench: ForgeryBench;
const reasons = new Set<string>();
const messages = new Set<string>();
let accepted = 0;

const explained = (idToken: string): Promise<TokenCheck[]> =>
  org.admin.posted<TokenCheck[]>(`/oidc-trusts/${trust.id}/explain`, { idToken });

const messageOf = ({ status, body }: Answer<WorkloadToken>): string => `${status} ${body.message}`;

beforeAll(async () => {
  const [issuer, other] = [await OidcIssuer.start(), await OidcIssuer.start()];
  drawbridge = await Drawbridge.start({
    worker: false,
    api: { OIDC_ISSUERS: `${issuer.url},${other.url},https://token.actions.githubusercontent.com` },
  });
  org = await organization(drawbridge);
  const foreign = await organization(drawbridge);
  trust = await githubTrust(org, issuer);
  const { audience } = trust;
  const used = await issuer.sign(jobClaims(issuer, audience));
  await drawbridge.api.expect(200, exchange(drawbridge, used));
  const foreignAudience = audience.replace(org.organizationId, foreign.organizationId);
  bench = { issuer, other, key: await newKey('RS256', 'rsa'), audience, foreignAudience, used };
});
afterAll(async () => {
  await drawbridge.stop();
  await Promise.all([bench.issuer.stop(), bench.other.stop()]);
});

describe('A forged ID token', () => {
  it.each(FORGERIES)('%s is refused (%s)', async (_, claim, make) => {
    const idToken = await make(bench);
    const failure = (await explained(idToken)).find(({ ok }) => !ok);
    const answer = await exchange(drawbridge, idToken);
    if (answer.status === 200) accepted += 1;
    reasons.add(`${claim}: ${failure?.found}`);
    messages.add(messageOf(answer));
    expect([failure?.claim, messageOf(answer)]).toEqual([
      claim,
      expect.stringMatching(/^401 The ID token is refused\. /),
    ]);
  });

  it(`of at least ${MIN_FORGERIES} kinds, none is accepted, for distinct reasons and with one message`, () => {
    expect(FORGERIES.length).toBeGreaterThanOrEqual(MIN_FORGERIES);
    expect(reasons.size).toBeGreaterThanOrEqual(MIN_REASONS);
    expect([accepted, messages.size]).toEqual([0, 1]);
  });

  it.each([
    ['longer than 16 kB', 'x'.repeat(16_385)],
    ['that is no text', { alg: 'none' }],
    ['that is empty', ''],
  ])('%s is a malformed request: 400 that names idToken', async (_, idToken) => {
    const { status, body } = await drawbridge.api.post<{ validationErrors: object }>('/auth/oidc/exchange', {
      idToken,
    });
    expect([status, Object.keys(body.validationErrors)]).toEqual([400, ['idToken']]);
  });

  it('a right token beside them is accepted, with each algorithm', async () => {
    for (const kid of ['rsa', 'ec', 'ed']) {
      const idToken = await bench.issuer.sign(
        jobClaims(bench.issuer, bench.audience),
        {},
        bench.issuer.key(kid),
      );
      expect((await explained(idToken)).filter(({ ok }) => !ok)).toEqual([]);
      expect((await exchange(drawbridge, idToken)).status).toBe(200);
    }
  });

  it('did not make the service fetch a key for it, apart from the first unknown kid', () => {
    const fetches = bench.issuer.requests.filter((path) => path === '/keys').length;
    expect(fetches).toBeLessThanOrEqual(4);
    expect(bench.other.requests).toEqual([]);
  });
});

describe('The audit trail of refused ID tokens', () => {
  it('names the claim, at most ten times a minute for each address', async () => {
    const refused = (): ReturnType<typeof audited> =>
      audited(drawbridge, org.organizationId, 'OIDC_EXCHANGE_REFUSED');
    expect(await refused()).toHaveLength(10);
    const [, , forge] = FORGERIES.find(([, claim]) => claim === 'signature')!;
    const body = { idToken: await forge(bench) };
    await drawbridge.api.post('/auth/oidc/exchange', body, { 'X-Forwarded-For': '198.51.100.9' });
    expect(await refused()).toHaveLength(11);
    const other = await organization(drawbridge);
    const own = await githubTrust(other, bench.issuer);
    const at = { ...bench, audience: own.audience };
    const wanted: string[] = [];
    for (const claim of ['alg', 'kid', 'signature', 'iss', 'exp', 'iat', 'environment', 'event_name']) {
      const [, , make] = FORGERIES.find((forgery) => forgery[1] === claim)!;
      await exchange(drawbridge, await make(at));
      wanted.push(claim);
    }
    const written = await audited(drawbridge, other.organizationId, 'OIDC_EXCHANGE_REFUSED');
    expect(written.map(({ details }) => (details as { claim: string }).claim)).toEqual(wanted);
    expect(JSON.stringify(written)).not.toContain('octo-org');
  });

  it.each([
    ['is not known', 'https://elsewhere.example'],
    ['does not exist', null],
  ])('has nothing where the organization %s', async (_, other) => {
    const audience = other ?? bench.audience.replace(org.organizationId, randomUUID());
    const before = await drawbridge.query(
      `SELECT 1 FROM audit_records WHERE event_type = 'OIDC_EXCHANGE_REFUSED'`,
    );
    await exchange(drawbridge, await bench.issuer.sign({ ...jobClaims(bench.issuer, audience) }));
    const after = await drawbridge.query(
      `SELECT 1 FROM audit_records WHERE event_type = 'OIDC_EXCHANGE_REFUSED'`,
    );
    expect(after).toHaveLength(before.length);
  });
});
