import { createHmac, randomUUID } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import type { IssuerKey } from '../../harness/issuers/oidc-issuer';
import type { IssuerPerson, Lie, SignInIssuer } from '../../harness/issuers/sign-in-issuer';
import type { CompanySignIn } from './company-sign-in';
import type { Organization } from '../accounts/organization';

/** Two organizations, each with an issuer. Ada is linked in the first. */
export interface SignInBench {
  readonly org: Organization;
  readonly signIn: CompanySignIn;
  readonly issuer: SignInIssuer;
  readonly providerId: string;
  readonly ada: IssuerPerson;
  readonly other: CompanySignIn;
  readonly otherIssuer: SignInIssuer;
  readonly stranger: IssuerKey;
}

/** What is tried, where it ends, and how. */
export type Forgery = readonly [what: string, end: string, attempt: (bench: SignInBench) => Promise<string>];

const now = (): number => Math.floor(Date.now() / 1000);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

/** The issuer lies about Ada. */
const lying =
  (lie: Lie | ((bench: SignInBench) => Lie | Promise<Lie>)): Forgery[2] =>
  async (bench) => {
    const { authorize, verifier } = await bench.signIn.begin();
    const told = typeof lie === 'function' ? await lie(bench) : lie;
    return bench.signIn.outcome(bench.issuer.signIn(authorize, bench.ada, told), verifier);
  };

const hmac = async (secret: string | Buffer, honest: string): Promise<string> => {
  const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(decoded(honest))}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

const pem = async ({ keys: [key] }: SignInIssuer): Promise<string> =>
  exportSPKI((await importJWK(key!.publicJwk, 'RS256', { extractable: true })) as CryptoKey);

const claims = (what: string, changed: Lie['claims'] & object): Forgery => [
  what,
  'error invalid',
  lying({ claims: changed }),
];

/** Answers of a token endpoint that let nobody in. */
export const FORGED_ANSWERS: readonly Forgery[] = [
  claims('no nonce', { nonce: undefined }),
  claims('an empty nonce', { nonce: '' }),
  claims('a nonce of another sign-in', { nonce: randomUUID() }),
  claims('the audience of another client', { aud: 'another' }),
  claims('no audience', { aud: undefined }),
  claims('audiences without this client', { aud: ['another', 'third'] }),
  claims('several audiences and no authorized party', { aud: ['drawbridge', 'another'] }),
  claims('several audiences, authorized for another', { aud: ['drawbridge', 'another'], azp: 'another' }),
  claims('authorized for another client', { azp: 'another' }),
  claims('another issuer', { iss: 'https://login.example.com' }),
  claims('no issuer', { iss: undefined }),
  [
    'the issuer with a slash',
    'error invalid',
    lying(({ issuer }) => ({ claims: { iss: `${issuer.url}/` } })),
  ],
  claims('expired', { exp: now() - 3600 }),
  claims('no expiry', { exp: undefined }),
  claims('an expiry as text', { exp: String(now() + 300) }),
  claims('no time of issue', { iat: undefined }),
  claims('issued in the future', { iat: now() + 86_400 }),
  claims('issued in two minutes', { iat: now() + 120 }),
  claims('not valid yet', { nbf: now() + 3600 }),
  claims('no subject', { sub: undefined }),
  claims('an empty subject', { sub: '' }),
  claims('a subject that is a number', { sub: 7 }),
  claims('a subject of 300 characters', { sub: 'x'.repeat(300) }),
  [
    'alg none',
    'error invalid',
    lying({ idToken: (honest) => `${encoded({ alg: 'none' })}.${encoded(decoded(honest))}.` }),
  ],
  [
    'alg None',
    'error invalid',
    lying({ idToken: (honest) => `${encoded({ alg: 'None' })}.${encoded(decoded(honest))}.` }),
  ],
  [
    'HS256 with the client’s secret',
    'error invalid',
    lying(({ issuer }) => ({ idToken: (honest) => hmac(issuer.client.secret, honest) })),
  ],
  [
    'HS256 with the public key',
    'error invalid',
    lying(({ issuer }) => ({ idToken: async (honest) => hmac(await pem(issuer), honest) })),
  ],
  ['another key', 'error invalid', lying(({ stranger }) => ({ key: stranger }))],
  [
    'another key under the id of the right one',
    'error invalid',
    lying(({ stranger }) => ({ key: stranger, header: { kid: 'first' } })),
  ],
  [
    'another key without an id',
    'error invalid',
    lying(({ stranger }) => ({ key: stranger, header: { kid: undefined } })),
  ],
  [
    'another key that the token brings along',
    'error invalid',
    lying(({ stranger }) => ({ key: stranger, header: { jwk: stranger.publicJwk } })),
  ],
  [
    'another key at an address that the token names',
    'error invalid',
    lying(({ stranger, otherIssuer }) => ({ key: stranger, header: { jku: `${otherIssuer.url}/keys` } })),
  ],
  [
    'no signature',
    'error invalid',
    lying({ idToken: (honest) => honest.slice(0, honest.lastIndexOf('.') + 1) }),
  ],
  [
    'claims that were changed after the signature',
    'error invalid',
    lying({
      idToken: (honest) => {
        const [header, , signature] = honest.split('.');
        return `${header}.${encoded({ ...decoded(honest), email_verified: true, more: 1 })}.${signature}`;
      },
    }),
  ],
  ['a critical extension', 'error invalid', lying({ header: { crit: ['x'], x: 1 } })],
  ['no ID token', 'error invalid', lying({ answer: ({ id_token: _, ...rest }) => rest })],
  ['no JWT', 'error invalid', lying({ idToken: () => 'not a token' })],
  ['an encrypted token', 'error invalid', lying({ idToken: () => 'a.b.c.d.e' })],
  ['an error with status 200', 'error invalid', lying({ answer: () => ({ error: 'invalid_grant' }) })],
  ['no JSON', 'error invalid', lying({ answer: () => '<html></html>' })],
  [
    'an answer without an end',
    'error unreachable',
    lying({ answer: (honest) => ({ ...honest, more: 'x'.repeat(70_000) }) }),
  ],
  [
    'a redirect to another token endpoint',
    'error invalid',
    lying(({ otherIssuer }) => ({ status: 307, headers: { Location: `${otherIssuer.url}/token` } })),
  ],
  [
    'the token of another tenant’s issuer',
    'error invalid',
    lying(({ otherIssuer }) => ({ claims: { iss: otherIssuer.url }, key: otherIssuer.keys[0]! })),
  ],
  [
    'the key of another tenant’s issuer',
    'error invalid',
    lying(({ otherIssuer }) => ({ key: otherIssuer.keys[0]! })),
  ],
];
