import { randomBytes, randomUUID, type JsonWebKey } from 'node:crypto';
import { calculateJwkThumbprint, createRemoteJWKSet, jwtVerify } from 'jose';
import { Identities, IdentityStores } from '#credentials';
import { Database } from '#entities';
import { asOrganizationId } from '#rules';
import { MasterKeys, openIdentityKey } from '#secrets';
import { organization, type Organization } from '../builders/accounts/organization';
import { ApiClient, type Credential } from '../harness/product/api-client';
import { publishedContract } from '../harness/contract/published-contract';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';

const AUDIENCE = 'sts.amazonaws.com';
const AWS = {
  name: 'By trust',
  provider: 'AWS',
  credentialType: 'WEB_IDENTITY',
  credentialData: { roleArn: 'arn:aws:iam::123456789012:role/federated' },
};

interface Discovery {
  readonly issuer: string;
  readonly jwks_uri: string;
}
type Federated = Credential & { readonly identity?: { issuer: string; subject: string; setup: string } };
interface CredentialType {
  readonly credentialType: string;
  readonly needsIssuer: boolean;
  readonly setup?: string;
}
interface Types {
  readonly provider: string;
  readonly credentialTypes: CredentialType[];
}

describe('Anyone can verify the tokens of an organization’s issuer', () => {
  const masterKeys = `1:${randomBytes(32).toString('base64')}`;
  let drawbridge: Drawbridge;
  let database: Database;
  let root: string;
  let identities: Identities;
  let org: Organization;
  let credential: Federated;

  beforeAll(async () => {
    const port = String(await freePort());
    root = `http://localhost:${port}/oidc`;
    drawbridge = await Drawbridge.start({
      worker: false,
      api: { PORT: port, OIDC_ISSUER_URL: root, MASTER_KEYS: masterKeys, LOG_LEVEL: 'trace' },
    });
    database = await new Database({
      url: drawbridge.databaseUrl,
      applicationName: 'issuer-test',
      poolSize: 2,
    }).connect();
    // no route hands a token out: this is what opens credentials in API and worker
    identities = new Identities(database, MasterKeys.parse(masterKeys), new IdentityStores(), root);
    org = await organization(drawbridge, []);
    credential = await org.admin.created<Federated>('/credentials', AWS);
  });
  afterAll(async () => {
    await database.close();
    await drawbridge.stop();
  });

  const token = (): Promise<string> =>
    identities
      .tokensOf({ id: credential.id, organizationId: asOrganizationId(org.organizationId) })!
      .sign(AUDIENCE, 'credential', AWS.credentialData.roleArn);

  async function read(url: string): Promise<{ status: number; headers: Headers; text: string }> {
    const response = await fetch(url);
    const text = await response.text();
    const { pathname } = new URL(url);
    const contentType = response.headers.get('content-type');
    publishedContract().check({ method: 'GET', path: pathname, status: response.status, contentType, text });
    return { status: response.status, headers: response.headers, text };
  }
  const published = async <T>(url: string): Promise<T> => {
    const { status, text } = await read(url);
    expect(status).toBe(200);
    return JSON.parse(text) as T;
  };
  const discovery = (): Promise<Discovery> =>
    published(`${root}/${org.organizationId}/.well-known/openid-configuration`);
  const publicKeys = async (): Promise<JsonWebKey[]> =>
    (await published<{ keys: JsonWebKey[] }>((await discovery()).jwks_uri)).keys;

  it('with jose, which shares no code with the signer, from the discovery document and the key set as published', async () => {
    const { issuer, jwks_uri } = await discovery();
    expect({ issuer, subject: `org:${org.organizationId}:credential:${credential.id}` }).toEqual({
      issuer: credential.identity!.issuer,
      subject: credential.identity!.subject,
    });
    const { payload } = await jwtVerify(await token(), createRemoteJWKSet(new URL(jwks_uri)), {
      issuer,
      audience: AUDIENCE,
      subject: credential.identity!.subject,
      algorithms: ['RS256'],
      typ: 'JWT',
      requiredClaims: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti'],
      maxTokenAge: '5 minutes',
    });
    expect(payload.nbf).toBe(payload.iat! - 60);
    expect(payload.exp).toBe(payload.iat! + 300);
    expect(Object.keys(payload)).toHaveLength(7);
  });

  it('the documents have what clouds accept, and nothing that they refuse', async () => {
    const issuer = `${root}/${org.organizationId}`;
    expect(await discovery()).toEqual({
      issuer,
      jwks_uri: `${issuer}/jwks`,
      authorization_endpoint: 'urn:drawbridge:none',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'],
    });
    const keys = await publicKeys();
    expect(keys).toHaveLength(1);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key['kid']).toBe(await calculateJwkThumbprint(key));
      expect(Buffer.from(key.n!, 'base64url').length * 8).toBeGreaterThanOrEqual(2048);
    }
  });

  it('they may be cached, and have a limit of their own', async () => {
    const api = await drawbridge.startApi({
      OIDC_ISSUER_URL: root,
      MASTER_KEYS: masterKeys,
      RATE_LIMIT_PER_MINUTE: '1',
    });
    const url = `http://127.0.0.1:${api.port}/oidc/${org.organizationId}/jwks`;
    const answers = [];
    for (let count = 0; count < 11; count++) answers.push(await fetch(url));
    expect(answers[0]!.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(200), 429]);
    expect(answers[10]!.headers.get('cache-control')).toBe('no-store');
    const general = await fetch(`http://127.0.0.1:${api.port}/api/v1/sessions`);
    expect(general.status).toBe(401);
  });

  it.each([
    ['an unknown organization', () => randomUUID()],
    ['another spelling of the id', () => org.organizationId.toUpperCase()],
    ['no id', () => 'x'],
    ['a path with more', () => `${org.organizationId}/x`],
  ])('there is none for %s', async (_, path) => {
    for (const document of ['jwks', '.well-known/openid-configuration']) {
      const { status, headers } = await fetch(`${root}/${path()}/${document}`);
      // a cached one would outlive its cause
      expect({ status, caching: headers.get('cache-control') }).toEqual({ status: 404, caching: 'no-store' });
    }
  });

  it('without the setting there is no issuer, and what needs one is refused by its name', async () => {
    const api = await drawbridge.startApi({ MASTER_KEYS: masterKeys });
    const url = `http://127.0.0.1:${api.port}`;
    expect((await read(`${url}/oidc/${org.organizationId}/jwks`)).status).toBe(404);
    const admin = new ApiClient(`${url}/api/v1`, org.admin.identity);
    const refused = await admin.post('/credentials', AWS);
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused.body)).toContain('OIDC_ISSUER_URL');
    const type = await typeOf(admin, 'AWS', 'WEB_IDENTITY');
    expect(type.needsIssuer).toBe(true);
    expect(type.setup).toBeUndefined();
  });

  it('the private key is in no log, no answer and, unsealed, in no table', async () => {
    const [row] = await new IdentityStores().keys.listPublished(database.autocommit);
    const { d, p } = openIdentityKey(MasterKeys.parse(masterKeys), row!).export({ format: 'jwk' });
    const forms = [d!, p!].flatMap((part) =>
      (['base64url', 'base64', 'hex'] as const).map((form) =>
        Buffer.from(part, 'base64url').toString(form).slice(3, 60),
      ),
    );
    const tables = await drawbridge.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    const places = [drawbridge.apiServer.output, JSON.stringify(await publicKeys())];
    for (const { name } of tables) {
      const rows = await drawbridge.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
      places.push(...rows.map(({ text }) => text));
    }
    expect(places.filter((place) => forms.some((form) => place.includes(form)))).toEqual([]);
    expect(places.join('')).not.toContain('PRIVATE KEY');
  });

  const typeOf = async (
    client: ApiClient,
    provider: string,
    credentialType: string,
  ): Promise<CredentialType> => {
    const types = await client.expect(200, client.get<Types[]>('/resources/types'));
    return types
      .find((one) => one.provider === provider)!
      .credentialTypes.find((one) => one.credentialType === credentialType)!;
  };
});
