import { createHmac, createPublicKey, KeyObject, sign } from 'node:crypto';
import type { IssuerKey } from '../../harness/issuers/oidc-issuer';
import { FORGED_CLAIMS } from './forged-claims';
import { claimsOf, coded, raw, RSA, type Forgery, type ForgeryBench } from './forgery';

const textOf = (bench: ForgeryBench, added: string): string =>
  `${JSON.stringify(claimsOf(bench)).slice(0, -1)},${added}}`;

/** A right signature over a payload that is given as text. */
const written = (name: string, text: (bench: ForgeryBench) => string): Forgery => [
  name,
  'token',
  async (bench) => raw(RSA, text(bench), bench.issuer.key('rsa')),
];

/** A right signature under a header that is not right. */
const headed = (name: string, claim: string, header: (bench: ForgeryBench) => unknown): Forgery => [
  name,
  claim,
  async (bench) => raw(header(bench), claimsOf(bench), bench.issuer.key('rsa')),
];

/** A right token, changed as text. */
const changed = (
  name: string,
  claim: string,
  change: (parts: [string, string, string]) => string,
  kid = 'rsa',
): Forgery => [
  name,
  claim,
  async (bench) =>
    change(
      (await bench.issuer.sign(claimsOf(bench), {}, bench.issuer.key(kid))).split('.') as [
        string,
        string,
        string,
      ],
    ),
];

const nested = (depth: number): string => `"deep":${'['.repeat(depth)}${']'.repeat(depth)}`;

const STRUCTURE: readonly Forgery[] = [
  changed('no dots', 'token', ([, payload]) => payload),
  changed('without a signature', 'token', ([header, payload]) => `${header}.${payload}`),
  changed('with an empty signature', 'token', ([header, payload]) => `${header}.${payload}.`),
  changed('with five parts, as encrypted tokens', 'token', (parts) => [...parts, 'a', 'b'].join('.')),
  changed('with a blank at the end', 'token', (parts) => `${parts.join('.')} `),
  changed('with padding', 'token', ([header, payload, signature]) => `${header}.${payload}==.${signature}`),
  changed(
    'in base64 of another alphabet',
    'token',
    ([, payload, signature]) => `e+/${payload}.${payload}.${signature}`,
  ),
  changed(
    'with unused bits set',
    'token',
    ([header, payload, signature]) => `${nonCanonical(header)}.${payload}.${signature}`,
  ),
  written('whose payload is not JSON', () => 'sub=octo'),
  written('whose payload is a list', (bench) => JSON.stringify([claimsOf(bench)])),
  written('whose payload is null', () => 'null'),
  written('whose payload is a token', (bench) => raw(RSA, claimsOf(bench), bench.issuer.key('rsa'))),
  written('with a claim twice', (bench) => textOf(bench, '"repository_id":"74"')),
  written('with an audience twice', (bench) => textOf(bench, `"aud":"${bench.audience}"`)),
  written('with a claim twice in two spellings', (bench) => textOf(bench, '"a\\u0075d":"x"')),
  written('with a member twice inside a claim', (bench) => textOf(bench, '"more":{"a":1,"a":2}')),
  written('with __proto__ twice', (bench) => textOf(bench, '"__proto__":{},"__proto__":{}')),
  written('nested too deeply', (bench) => textOf(bench, nested(9))),
  written('nested a thousand levels', (bench) => textOf(bench, nested(1000))),
  written('with hundreds of claims', (bench) =>
    textOf(bench, Array.from({ length: 250 }, (_, index) => `"c${index}":1`).join(',')),
  ),
  written('with a byte order mark', (bench) => `\uFEFF${JSON.stringify(claimsOf(bench))}`),
  [
    'whose payload is not UTF-8',
    'token',
    async (bench) => {
      const bytes = Buffer.concat([
        Buffer.from(`${JSON.stringify(claimsOf(bench)).slice(0, -1)},"x":"`),
        Buffer.from([0xc0, 0xaf]),
        Buffer.from('"}'),
      ]);
      const content = `${coded(RSA)}.${bytes.toString('base64url')}`;
      const signature = sign(
        'sha256',
        Buffer.from(content),
        KeyObject.from(bench.issuer.key('rsa').privateKey),
      );
      return `${content}.${signature.toString('base64url')}`;
    },
  ],
];

const nonCanonical = (part: string): string => {
  const text = `${Buffer.from(part, 'base64url').toString('utf8').slice(0, -1)}  }`;
  const padded = Buffer.from(text.length % 3 === 0 ? `${text} ` : text).toString('base64url');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return padded.slice(0, -1) + alphabet[alphabet.indexOf(padded.at(-1)!) + 1]!;
};

const HEADERS: readonly Forgery[] = [
  [
    'with the attacker’s key in jwk',
    'token',
    async (bench) => raw({ ...RSA, jwk: bench.key.publicJwk }, claimsOf(bench), bench.key),
  ],
  headed('with jku', 'token', ({ other }) => ({ ...RSA, jku: `${other.url}/keys` })),
  headed('with x5u', 'token', ({ other }) => ({ ...RSA, x5u: `${other.url}/certificate` })),
  headed('with x5c', 'token', () => ({ ...RSA, x5c: ['MIIB'] })),
  headed('with crit', 'token', () => ({ ...RSA, crit: ['exp'], exp: 1 })),
  headed('with an empty crit', 'token', () => ({ ...RSA, crit: [] })),
  headed('with b64', 'token', () => ({ ...RSA, b64: false, crit: ['b64'] })),
  headed('with zip', 'token', () => ({ ...RSA, zip: 'DEF' })),
  headed('with cty', 'token', () => ({ ...RSA, cty: 'JWT' })),
  headed('of the type of an access token', 'token', () => ({ ...RSA, typ: 'at+jwt' })),
  headed('of the type of a sign-out', 'token', () => ({ ...RSA, typ: 'logout+jwt' })),
  headed('with a number as type', 'token', () => ({ ...RSA, typ: 1 })),
  headed('whose header is a list', 'token', () => [RSA]),
  headed('whose header is a text', 'token', () => '"RS256"'),
  headed('whose header has alg twice', 'token', () => '{"alg":"none","kid":"rsa","alg":"RS256"}'),
];

const unsignedWith = (alg: unknown): Forgery => [
  `with the algorithm ${JSON.stringify(alg)}`,
  'alg',
  async (bench) => `${coded({ ...RSA, alg })}.${coded(claimsOf(bench))}.${coded('x')}`,
];

/** A symmetric signature whose secret everybody knows. */
const confused = (name: string, alg: string, secret: (key: IssuerKey) => string | Buffer): Forgery => [
  `${alg} with ${name} as secret`,
  'alg',
  async (bench) => {
    const content = `${coded({ ...RSA, alg })}.${coded(claimsOf(bench))}`;
    const hmac = createHmac(`sha${alg.slice(2)}`, secret(bench.issuer.key('rsa')));
    return `${content}.${hmac.update(content).digest('base64url')}`;
  },
];

const pemOf = ({ publicJwk }: IssuerKey): string =>
  String(createPublicKey({ key: { ...publicJwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));

const ALGORITHMS: readonly Forgery[] = [
  ...['none', 'None', 'NONE', 'nOnE', '', 'rs256', 'RS256 ', 1, null, ['RS256'], { alg: 'RS256' }].map(
    unsignedWith,
  ),
  confused('the public key in PEM', 'HS256', pemOf),
  confused('the public key in PEM', 'HS512', pemOf),
  confused('the public key as JWK', 'HS256', ({ publicJwk }) => JSON.stringify(publicJwk)),
  confused('the modulus', 'HS256', ({ publicJwk }) => Buffer.from(publicJwk.n!, 'base64url')),
  confused('nothing', 'HS256', () => ''),
  headed('without an algorithm', 'alg', () => ({ kid: 'rsa', typ: 'JWT' })),
  [
    'of the right key with RS512',
    'alg',
    async (bench) => raw({ ...RSA, alg: 'RS512' }, claimsOf(bench), bench.issuer.key('rsa'), 'sha512'),
  ],
  headed('of the right key with PS256', 'alg', () => ({ ...RSA, alg: 'PS256' })),
  headed('with the algorithm of encrypted tokens', 'alg', () => ({ ...RSA, alg: 'RSA-OAEP' })),
];

const KEYS: readonly Forgery[] = [
  headed('without kid', 'kid', () => ({ alg: 'RS256', typ: 'JWT' })),
  ...['', 1, null, ['rsa'], 'r'.repeat(256)].map((kid): Forgery =>
    headed(`with the kid ${JSON.stringify(kid).slice(0, 20)}`, 'kid', () => ({ ...RSA, kid })),
  ),
  ...[
    '../../../../dev/null',
    "rsa' OR '1'='1",
    'rsa\u0000',
    'RSA',
    '__proto__',
    'constructor',
    'http://127.0.0.1/keys',
    'ec',
    'ed',
  ].map((kid): Forgery =>
    headed(`with the kid ${JSON.stringify(kid)}`, 'signature', () => ({ ...RSA, kid })),
  ),
  headed('of the RSA key as ES256', 'signature', () => ({ ...RSA, alg: 'ES256', kid: 'ec' })),
  headed('of the RSA key as EdDSA', 'signature', () => ({ ...RSA, alg: 'EdDSA', kid: 'ed' })),
];

const SIGNATURES: readonly Forgery[] = [
  [
    'signed with the attacker’s key under the issuer’s kid',
    'signature',
    async (bench) => raw(RSA, claimsOf(bench), bench.key),
  ],
  changed('whose payload was changed', 'signature', ([header, payload, signature]) => {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as object;
    return `${header}.${coded({ ...claims, run_id: '1' })}.${signature}`;
  }),
  changed(
    'whose header was changed',
    'signature',
    ([, payload, signature]) => `${coded({ ...RSA, extra: 1 })}.${payload}.${signature}`,
  ),
  changed(
    'whose signature was cut',
    'signature',
    ([header, payload, signature]) => `${header}.${payload}.${signature.slice(0, 40)}`,
  ),
  changed(
    'whose signature was changed',
    'signature',
    ([header, payload, signature]) => `${header}.${payload}.AAAA${signature.slice(4)}`,
  ),
  [
    'with the signature of another token',
    'signature',
    async (bench) => {
      const [one, two] = [await bench.issuer.sign(claimsOf(bench)), await bench.issuer.sign(claimsOf(bench))];
      return [...one.split('.').slice(0, 2), two.split('.')[2]].join('.');
    },
  ],
  changed(
    'with zeros as an ES256 signature',
    'signature',
    ([header, payload]) => `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'ec',
  ),
  changed(
    'with zeros as an EdDSA signature',
    'signature',
    ([header, payload]) => `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'ed',
  ),
  [
    'with an ES256 signature in DER',
    'signature',
    async (bench) => {
      const content = `${coded({ alg: 'ES256', kid: 'ec' })}.${coded(claimsOf(bench))}`;
      const key = KeyObject.from(bench.issuer.key('ec').privateKey);
      return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
    },
  ],
];

export const FORGERIES: readonly Forgery[] = [
  ...STRUCTURE,
  ...HEADERS,
  ...ALGORITHMS,
  ...KEYS,
  ...SIGNATURES,
  ...FORGED_CLAIMS,
];
