import { createHmac, createPublicKey, KeyObject, sign } from 'node:crypto';
import type { OidcIssuer, IssuerKey } from '../harness/oidc-issuer';
import { jobClaims, now } from './oidc';

/** What forgeries are made with. */
export interface ForgeryBench {
  readonly issuer: OidcIssuer;
  /** an issuer that the operator allows, and no trust names */
  readonly other: OidcIssuer;
  /** of the attacker */
  readonly key: IssuerKey;
  readonly audience: string;
  /** of another organization */
  readonly foreignAudience: string;
  /** a token that was exchanged */
  readonly used: string;
}

/** A forged token. `claim`: what the first failed check names. */
export type Forgery = readonly [name: string, claim: string, make: (bench: ForgeryBench) => Promise<string>];

type Changes = Readonly<Record<string, unknown>>;

const coded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs any header and payload: libraries refuse most of these. @param hash null: EdDSA */
function raw(
  header: unknown,
  payload: unknown,
  { privateKey }: IssuerKey,
  hash: string | null = 'sha256',
): string {
  const content = `${coded(header)}.${coded(payload)}`;
  const key = { key: KeyObject.from(privateKey), dsaEncoding: 'ieee-p1363' as const };
  return `${content}.${sign(hash, Buffer.from(content), key).toString('base64url')}`;
}

const RSA = { alg: 'RS256', kid: 'rsa', typ: 'JWT' };
const claimsOf = ({ issuer, audience }: ForgeryBench, changes: Changes = {}): Record<string, unknown> => ({
  ...jobClaims(issuer, audience),
  ...changes,
});
const textOf = (bench: ForgeryBench, added: string): string =>
  `${JSON.stringify(claimsOf(bench)).slice(0, -1)},${added}}`;

/** A right signature over claims that are not right. */
const claimed = (name: string, claim: string, changes: (bench: ForgeryBench) => Changes): Forgery => [
  name,
  claim,
  (bench) => bench.issuer.sign(claimsOf(bench, changes(bench))),
];

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

const ISSUERS: readonly Forgery[] = [
  claimed('without iss', 'iss', () => ({ iss: undefined })),
  claimed('with a slash after iss', 'iss', ({ issuer }) => ({ iss: `${issuer.url}/` })),
  claimed('with iss in capitals', 'iss', ({ issuer }) => ({ iss: issuer.url.toUpperCase() })),
  claimed('with a blank after iss', 'iss', ({ issuer }) => ({ iss: `${issuer.url} ` })),
  claimed('with a list as iss', 'iss', ({ issuer }) => ({ iss: [issuer.url] })),
  claimed('with null as iss', 'iss', () => ({ iss: null })),
  claimed('with a user in iss', 'iss', ({ issuer }) => ({ iss: issuer.url.replace('//', '//x@') })),
  claimed('of GitHub itself', 'iss', () => ({ iss: 'https://token.actions.githubusercontent.com' })),
  [
    'of another issuer that the operator allows',
    'iss',
    (bench) => bench.other.sign(claimsOf(bench, { iss: bench.other.url })),
  ],
];

const AUDIENCES: readonly Forgery[] = [
  claimed('without aud', 'aud', () => ({ aud: undefined })),
  claimed('for another organization', 'aud', ({ foreignAudience }) => ({ aud: foreignAudience })),
  claimed('for two organizations', 'aud', ({ audience, foreignAudience }) => ({
    aud: [audience, foreignAudience],
  })),
  claimed('for the organization twice', 'aud', ({ audience }) => ({ aud: [audience, audience] })),
  claimed('for nobody', 'aud', () => ({ aud: [] })),
  claimed('with a list in aud', 'aud', ({ audience }) => ({ aud: [[audience]] })),
  claimed('with a slash after aud', 'aud', ({ audience }) => ({ aud: `${audience}/` })),
  claimed('with aud in capitals', 'aud', ({ audience }) => ({ aud: audience.toUpperCase() })),
  claimed('with the start of aud', 'aud', ({ audience }) => ({ aud: audience.slice(0, -1) })),
  claimed('with the default audience of GitHub', 'aud', () => ({ aud: 'https://github.com/octo-org' })),
  claimed('with a number as aud', 'aud', () => ({ aud: 7 })),
];

const TIMES: readonly Forgery[] = [
  claimed('that expired', 'exp', () => ({ exp: now() - 90, iat: now() - 300, nbf: now() - 300 })),
  claimed('without exp', 'exp', () => ({ exp: undefined })),
  claimed('with a text as exp', 'exp', () => ({ exp: String(now() + 300) })),
  claimed('with null as exp', 'exp', () => ({ exp: null })),
  claimed('with a negative exp', 'exp', () => ({ exp: -1 })),
  [
    'that never expires',
    'exp',
    async (bench) => {
      const text = JSON.stringify(claimsOf(bench)).replace(/"exp":\d+/, '"exp":1e999');
      return raw(RSA, text, bench.issuer.key('rsa'));
    },
  ],
  claimed('without iat', 'iat', () => ({ iat: undefined })),
  claimed('issued twelve minutes ago', 'iat', () => ({ iat: now() - 720 })),
  claimed('issued in five minutes', 'iat', () => ({ iat: now() + 300 })),
  claimed('with a text as iat', 'iat', () => ({ iat: String(now()) })),
  claimed('valid in five minutes', 'nbf', () => ({ nbf: now() + 300 })),
  claimed('with a text as nbf', 'nbf', () => ({ nbf: 'now' })),
  claimed('without jti', 'jti', () => ({ jti: undefined })),
  claimed('with an empty jti', 'jti', () => ({ jti: '' })),
  claimed('with a long jti', 'jti', () => ({ jti: 'j'.repeat(256) })),
  claimed('with a number as jti', 'jti', () => ({ jti: 7 })),
  ['that was exchanged before', 'jti', async ({ used }) => used],
];

const JOBS: readonly Forgery[] = [
  claimed('of another repository', 'repository_id', () => ({ repository_id: '75' })),
  claimed('of a repository with a similar id', 'repository_id', () => ({ repository_id: '074' })),
  claimed('of a repository with a blank', 'repository_id', () => ({ repository_id: '74 ' })),
  claimed('with a list of repositories', 'repository_id', () => ({ repository_id: ['74'] })),
  claimed('with an object as repository', 'repository_id', () => ({ repository_id: { id: '74' } })),
  claimed('without a repository', 'repository_id', () => ({ repository_id: undefined })),
  claimed('with a fraction as repository', 'repository_id', () => ({ repository_id: 74.5 })),
  claimed('of another owner', 'repository_owner_id', () => ({ repository_owner_id: '66' })),
  claimed('of another environment', 'environment', () => ({ environment: 'staging' })),
  claimed('of an environment in capitals', 'environment', () => ({ environment: 'Production' })),
  claimed('without an environment', 'environment', () => ({ environment: undefined })),
  claimed('with null as environment', 'environment', () => ({ environment: null })),
  claimed('of a longer branch', 'ref', () => ({ ref: 'refs/heads/main2' })),
  claimed('of a branch beside the pattern', 'ref', () => ({ ref: 'refs/heads/releases/1' })),
  claimed('of the pattern itself without its end', 'ref', () => ({ ref: 'refs/heads/release' })),
  claimed('of a pull request', 'ref', () => ({ ref: 'refs/pull/7/merge' })),
  claimed('of pull_request_target', 'event_name', () => ({ event_name: 'pull_request_target' })),
  claimed('of issue_comment', 'event_name', () => ({ event_name: 'issue_comment' })),
  claimed('of workflow_run', 'event_name', () => ({ event_name: 'workflow_run' })),
  claimed('without an event', 'event_name', () => ({ event_name: undefined })),
  claimed('with a list of events', 'event_name', () => ({ event_name: ['push'] })),
];

export const FORGERIES: readonly Forgery[] = [
  ...STRUCTURE,
  ...HEADERS,
  ...ALGORITHMS,
  ...KEYS,
  ...SIGNATURES,
  ...ISSUERS,
  ...AUDIENCES,
  ...TIMES,
  ...JOBS,
];
