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

type Attempt = (bench: SignInBench) => Promise<string>;

/** What is tried, where it ends, and how. */
export type Forgery = readonly [what: string, end: string, attempt: Attempt];

/** What is tried, and how, that ends in the same way. */
export const endingWith = (end: string, attempts: Readonly<Record<string, Attempt>>): readonly Forgery[] =>
  Object.entries(attempts).map(([what, attempt]) => [what, end, attempt] as const);

const now = (): number => Math.floor(Date.now() / 1000);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

/** The issuer lies about Ada. */
const lying =
  (lie: Lie | ((bench: SignInBench) => Lie)): Attempt =>
  async (bench) => {
    const { authorize, verifier } = await bench.signIn.begin();
    const told = typeof lie === 'function' ? lie(bench) : lie;
    return bench.signIn.outcome(bench.issuer.signIn(authorize, bench.ada, told), verifier);
  };

const hmac = async (secret: string | Buffer, honest: string): Promise<string> => {
  const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(decoded(honest))}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

const pem = async ({ keys: [key] }: SignInIssuer): Promise<string> =>
  exportSPKI((await importJWK(key!.publicJwk, 'RS256', { extractable: true })) as CryptoKey);

const claims = (changed: Lie['claims'] & object): Attempt => lying({ claims: changed });

/** A token in place of the honest one. */
const token = (idToken: Lie['idToken'] & object): Attempt => lying({ idToken });

/** A token that a key of another issuer signs. */
const signedBy = (
  key: 'stranger' | 'otherIssuer',
  header: (bench: SignInBench) => Lie['header'] = () => ({}),
): Attempt =>
  lying((bench) => ({
    key: key === 'stranger' ? bench.stranger : bench.otherIssuer.keys[0]!,
    header: { ...header(bench) },
  }));

/** Answers of a token endpoint that let nobody in. */
export const FORGED_ANSWERS: readonly Forgery[] = [
  ...endingWith('error invalid', {
    'no nonce': claims({ nonce: undefined }),
    'an empty nonce': claims({ nonce: '' }),
    'a nonce of another sign-in': claims({ nonce: randomUUID() }),
    'the audience of another client': claims({ aud: 'another' }),
    'no audience': claims({ aud: undefined }),
    'audiences without this client': claims({ aud: ['another', 'third'] }),
    'several audiences and no authorized party': claims({ aud: ['drawbridge', 'another'] }),
    'several audiences, authorized for another': claims({ aud: ['drawbridge', 'another'], azp: 'another' }),
    'authorized for another client': claims({ azp: 'another' }),
    'another issuer': claims({ iss: 'https://login.example.com' }),
    'no issuer': claims({ iss: undefined }),
    'the issuer with a slash': lying(({ issuer }) => ({ claims: { iss: `${issuer.url}/` } })),
    expired: claims({ exp: now() - 3600 }),
    'no expiry': claims({ exp: undefined }),
    'an expiry as text': claims({ exp: String(now() + 300) }),
    'no time of issue': claims({ iat: undefined }),
    'issued in the future': claims({ iat: now() + 86_400 }),
    'issued in two minutes': claims({ iat: now() + 120 }),
    'not valid yet': claims({ nbf: now() + 3600 }),
    'no subject': claims({ sub: undefined }),
    'an empty subject': claims({ sub: '' }),
    'a subject that is a number': claims({ sub: 7 }),
    'a subject of 300 characters': claims({ sub: 'x'.repeat(300) }),
    'alg none': token((honest) => `${encoded({ alg: 'none' })}.${encoded(decoded(honest))}.`),
    'alg None': token((honest) => `${encoded({ alg: 'None' })}.${encoded(decoded(honest))}.`),
    'HS256 with the client’s secret': lying(({ issuer }) => ({
      idToken: (honest) => hmac(issuer.client.secret, honest),
    })),
    'HS256 with the public key': lying(({ issuer }) => ({
      idToken: async (honest) => hmac(await pem(issuer), honest),
    })),
    'another key': signedBy('stranger'),
    'another key under the id of the right one': signedBy('stranger', () => ({ kid: 'first' })),
    'another key without an id': signedBy('stranger', () => ({ kid: undefined })),
    'another key that the token brings along': signedBy('stranger', ({ stranger }) => ({
      jwk: stranger.publicJwk,
    })),
    'another key at an address that the token names': signedBy('stranger', ({ otherIssuer }) => ({
      jku: `${otherIssuer.url}/keys`,
    })),
    'no signature': token((honest) => honest.slice(0, honest.lastIndexOf('.') + 1)),
    'claims that were changed after the signature': token((honest) => {
      const [header, , signature] = honest.split('.');
      return `${header}.${encoded({ ...decoded(honest), email_verified: true, more: 1 })}.${signature}`;
    }),
    'a critical extension': lying({ header: { crit: ['x'], x: 1 } }),
    'no ID token': lying({ answer: ({ id_token: _, ...rest }) => rest }),
    'no JWT': token(() => 'not a token'),
    'an encrypted token': token(() => 'a.b.c.d.e'),
    'an error with status 200': lying({ answer: () => ({ error: 'invalid_grant' }) }),
    'no JSON': lying({ answer: () => '<html></html>' }),
    'a redirect to another token endpoint': lying(({ otherIssuer }) => ({
      status: 307,
      headers: { Location: `${otherIssuer.url}/token` },
    })),
    'the token of another tenant’s issuer': lying(({ otherIssuer }) => ({
      claims: { iss: otherIssuer.url },
      key: otherIssuer.keys[0]!,
    })),
    'the key of another tenant’s issuer': signedBy('otherIssuer'),
  }),
  ...endingWith('error unreachable', {
    'an answer without an end': lying({ answer: (honest) => ({ ...honest, more: 'x'.repeat(70_000) }) }),
  }),
];
