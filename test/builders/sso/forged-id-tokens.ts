import { createHmac, createPublicKey, KeyObject, sign } from 'node:crypto';
import type { IssuerKey } from '../../harness/issuers/oidc-issuer';
import { FORGED_CLAIMS } from './forged-claims';
import {
  claimsOf,
  coded,
  failing,
  raw,
  RSA,
  type Forgery,
  type ForgeryBench,
  type MakeToken,
} from './forgery';

/** A right signature over a payload that is given as text. */
const written =
  (text: (bench: ForgeryBench) => string): MakeToken =>
  async (bench) =>
    raw(RSA, text(bench), bench.issuer.key('rsa'));

/** The same over the claims with more of them, as text. */
const added = (more: string | ((bench: ForgeryBench) => string)): MakeToken =>
  written((bench) => {
    const text = typeof more === 'string' ? more : more(bench);
    return `${JSON.stringify(claimsOf(bench)).slice(0, -1)},${text}}`;
  });

/** A right signature under a header that is not right. */
const headed =
  (header: unknown, hash?: string): MakeToken =>
  async (bench) => {
    const given: unknown =
      typeof header === 'function' ? (header as (given: ForgeryBench) => unknown)(bench) : header;
    return raw(given, claimsOf(bench), bench.issuer.key('rsa'), hash);
  };

/** A signature by the attacker's key. */
const attacked =
  (header: (bench: ForgeryBench) => object): MakeToken =>
  async (bench) =>
    raw({ ...RSA, ...header(bench) }, claimsOf(bench), bench.key);

/** A right token, changed as text. */
const changed =
  (change: (header: string, payload: string, signature: string) => string, kid = 'rsa'): MakeToken =>
  async (bench) => {
    const token = await bench.issuer.sign(claimsOf(bench), {}, bench.issuer.key(kid));
    return change(...(token.split('.') as [string, string, string]));
  };

const nested = (depth: number): string => `"deep":${'['.repeat(depth)}${']'.repeat(depth)}`;
const HUNDREDS = Array.from({ length: 250 }, (_, index) => `"c${index}":1`).join(',');

const STRUCTURE = failing('token', {
  'no dots': changed((_, payload) => payload),
  'without a signature': changed((header, payload) => `${header}.${payload}`),
  'with an empty signature': changed((header, payload) => `${header}.${payload}.`),
  'with five parts, as encrypted tokens': changed((...parts) => [...parts, 'a', 'b'].join('.')),
  'with a blank at the end': changed((...parts) => `${parts.join('.')} `),
  'with padding': changed((header, payload, signature) => `${header}.${payload}==.${signature}`),
  'in base64 of another alphabet': changed(
    (_, payload, signature) => `e+/${payload}.${payload}.${signature}`,
  ),
  'with unused bits set': changed(
    (header, payload, signature) => `${nonCanonical(header)}.${payload}.${signature}`,
  ),
  'whose payload is not JSON': written(() => 'sub=octo'),
  'whose payload is a list': written((bench) => JSON.stringify([claimsOf(bench)])),
  'whose payload is null': written(() => 'null'),
  'whose payload is a token': written((bench) => raw(RSA, claimsOf(bench), bench.issuer.key('rsa'))),
  'with a claim twice': added('"repository_id":"74"'),
  'with an audience twice': added((bench) => `"aud":"${bench.audience}"`),
  'with a claim twice in two spellings': added('"a\\u0075d":"x"'),
  'with a member twice inside a claim': added('"more":{"a":1,"a":2}'),
  'with __proto__ twice': added('"__proto__":{},"__proto__":{}'),
  'nested too deeply': added(nested(9)),
  'nested a thousand levels': added(nested(1000)),
  'with hundreds of claims': added(HUNDREDS),
  'with a byte order mark': written((bench) => `\uFEFF${JSON.stringify(claimsOf(bench))}`),
  'whose payload is not UTF-8': async (bench) => {
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(claimsOf(bench)).slice(0, -1)},"x":"`),
      Buffer.from([0xc0, 0xaf]),
      Buffer.from('"}'),
    ]);
    const content = `${coded(RSA)}.${bytes.toString('base64url')}`;
    const key = KeyObject.from(bench.issuer.key('rsa').privateKey);
    return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  },
});

function nonCanonical(part: string): string {
  const text = `${Buffer.from(part, 'base64url').toString('utf8').slice(0, -1)}  }`;
  const padded = Buffer.from(text.length % 3 === 0 ? `${text} ` : text).toString('base64url');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return padded.slice(0, -1) + alphabet[alphabet.indexOf(padded.at(-1)!) + 1]!;
}

const HEADERS = failing('token', {
  'with the attacker’s key in jwk': attacked(({ key }) => ({ jwk: key.publicJwk })),
  'with jku': headed(({ other }: ForgeryBench) => ({ ...RSA, jku: `${other.url}/keys` })),
  'with x5u': headed(({ other }: ForgeryBench) => ({ ...RSA, x5u: `${other.url}/certificate` })),
  'with x5c': headed({ ...RSA, x5c: ['MIIB'] }),
  'with crit': headed({ ...RSA, crit: ['exp'], exp: 1 }),
  'with an empty crit': headed({ ...RSA, crit: [] }),
  'with b64': headed({ ...RSA, b64: false, crit: ['b64'] }),
  'with zip': headed({ ...RSA, zip: 'DEF' }),
  'with cty': headed({ ...RSA, cty: 'JWT' }),
  'of the type of an access token': headed({ ...RSA, typ: 'at+jwt' }),
  'of the type of a sign-out': headed({ ...RSA, typ: 'logout+jwt' }),
  'with a number as type': headed({ ...RSA, typ: 1 }),
  'whose header is a list': headed([RSA]),
  'whose header is a text': headed('"RS256"'),
  'whose header has alg twice': headed('{"alg":"none","kid":"rsa","alg":"RS256"}'),
});

const unsignedWith = (alg: unknown): Forgery => [
  `with the algorithm ${JSON.stringify(alg)}`,
  'alg',
  async (bench) => `${coded({ ...RSA, alg })}.${coded(claimsOf(bench))}.${coded('x')}`,
];

/** A symmetric signature whose secret everybody knows. */
const confused =
  (alg: string, secret: (key: IssuerKey) => string | Buffer): MakeToken =>
  async (bench) => {
    const content = `${coded({ ...RSA, alg })}.${coded(claimsOf(bench))}`;
    const hmac = createHmac(`sha${alg.slice(2)}`, secret(bench.issuer.key('rsa')));
    return `${content}.${hmac.update(content).digest('base64url')}`;
  };

const pemOf = ({ publicJwk }: IssuerKey): string =>
  String(createPublicKey({ key: { ...publicJwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));

const ALGORITHMS: readonly Forgery[] = [
  ...['none', 'None', 'NONE', 'nOnE', '', 'rs256', 'RS256 ', 1, null, ['RS256'], { alg: 'RS256' }].map(
    unsignedWith,
  ),
  ...failing('alg', {
    'HS256 with the public key in PEM as secret': confused('HS256', pemOf),
    'HS512 with the public key in PEM as secret': confused('HS512', pemOf),
    'HS256 with the public key as JWK as secret': confused('HS256', ({ publicJwk }) =>
      JSON.stringify(publicJwk),
    ),
    'HS256 with the modulus as secret': confused('HS256', ({ publicJwk }) =>
      Buffer.from(publicJwk.n!, 'base64url'),
    ),
    'HS256 with nothing as secret': confused('HS256', () => ''),
    'without an algorithm': headed({ kid: 'rsa', typ: 'JWT' }),
    'of the right key with RS512': headed({ ...RSA, alg: 'RS512' }, 'sha512'),
    'of the right key with PS256': headed({ ...RSA, alg: 'PS256' }),
    'with the algorithm of encrypted tokens': headed({ ...RSA, alg: 'RSA-OAEP' }),
  }),
];

const withKid = (claim: string, ...kids: readonly unknown[]): readonly Forgery[] =>
  kids.map((kid): Forgery => [
    `with the kid ${JSON.stringify(kid).slice(0, 30)}`,
    claim,
    headed({ ...RSA, kid }),
  ]);

const KEYS: readonly Forgery[] = [
  ...failing('kid', { 'without kid': headed({ alg: 'RS256', typ: 'JWT' }) }),
  ...withKid('kid', '', 1, null, ['rsa'], 'r'.repeat(256)),
  ...withKid('signature', '../../../../dev/null', "rsa' OR '1'='1", 'rsa\u0000', 'RSA', '__proto__'),
  ...withKid('signature', 'constructor', 'http://127.0.0.1/keys', 'ec', 'ed'),
  ...failing('signature', {
    'of the RSA key as ES256': headed({ ...RSA, alg: 'ES256', kid: 'ec' }),
    'of the RSA key as EdDSA': headed({ ...RSA, alg: 'EdDSA', kid: 'ed' }),
  }),
];

const ZEROS = Buffer.alloc(64).toString('base64url');

const SIGNATURES = failing('signature', {
  'signed with the attacker’s key under the issuer’s kid': attacked(() => ({})),
  'whose payload was changed': changed((header, payload, signature) => {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as object;
    return `${header}.${coded({ ...claims, run_id: '1' })}.${signature}`;
  }),
  'whose header was changed': changed(
    (_, payload, signature) => `${coded({ ...RSA, extra: 1 })}.${payload}.${signature}`,
  ),
  'whose signature was cut': changed(
    (header, payload, signature) => `${header}.${payload}.${signature.slice(0, 40)}`,
  ),
  'whose signature was changed': changed(
    (header, payload, signature) => `${header}.${payload}.AAAA${signature.slice(4)}`,
  ),
  'with the signature of another token': async (bench) => {
    const [one, two] = [await bench.issuer.sign(claimsOf(bench)), await bench.issuer.sign(claimsOf(bench))];
    return [...one.split('.').slice(0, 2), two.split('.')[2]].join('.');
  },
  'with zeros as an ES256 signature': changed((header, payload) => `${header}.${payload}.${ZEROS}`, 'ec'),
  'with zeros as an EdDSA signature': changed((header, payload) => `${header}.${payload}.${ZEROS}`, 'ed'),
  'with an ES256 signature in DER': async (bench) => {
    const content = `${coded({ alg: 'ES256', kid: 'ec' })}.${coded(claimsOf(bench))}`;
    const key = KeyObject.from(bench.issuer.key('ec').privateKey);
    return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  },
});

export const FORGERIES: readonly Forgery[] = [
  ...STRUCTURE,
  ...HEADERS,
  ...ALGORITHMS,
  ...KEYS,
  ...SIGNATURES,
  ...FORGED_CLAIMS,
];
