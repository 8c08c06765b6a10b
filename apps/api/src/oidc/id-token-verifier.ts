import { createHash } from 'node:crypto';
import { errors, jwtVerify, type CryptoKey } from 'jose';
import { claimOf } from './conditions';
import type { ParsedIdToken } from './id-token';
import { UnreadableKeys } from './issuer-documents';
import { ALGORITHMS, type IssuerKeys } from './issuer-keys';
import { checked, type TokenCheck } from './token-check';

/** Of clocks, in seconds. */
const SKEW_SECONDS = 60;
const MAX_AGE_SECONDS = 600;
const MAX_ID_LENGTH = 255;
/** How long after its last valid second a token is remembered: clocks of processes and of the database differ. */
const REMEMBERED_MS = 600_000;

/** What a token must have. */
export interface Expected {
  /** one that the operator allows */
  readonly issuer: string;
  readonly audience: string;
}

/** Verifies ID tokens: signature, issuer, audience and times. */
export class IdTokenVerifier {
  /** @param now milliseconds since 1970 */
  constructor(
    private readonly keys: IssuerKeys,
    private readonly now: () => number,
  ) {}

  /** The checks that do not depend on a trust's conditions. The token is verified when all of them are ok. */
  async checks(token: ParsedIdToken, expected: Expected): Promise<TokenCheck[]> {
    const claims = this.claimChecks(token.claims, expected);
    const { signature, refused } = await this.verifySignature(token, expected);
    const issuer = claims.filter(({ claim }) => claim === 'iss');
    const own = claims.filter(({ claim }) => claim !== 'iss' && claim !== refused);
    // jose has the last word on claims, too
    const joses = refused === null ? [] : [failed(claims, refused, claimOf(token.claims, refused))];
    const header = headerChecks(token).filter(({ claim }) => !signature.some((one) => one.claim === claim));
    return [...header, ...issuer, ...signature, ...joses, ...own];
  }

  private async verifySignature(
    token: ParsedIdToken,
    expected: Expected,
  ): Promise<{ signature: TokenCheck[]; refused: string | null }> {
    const { alg, kid } = token.header;
    if (typeof alg !== 'string' || !isKeyId(kid) || !ALGORITHMS.includes(alg))
      return { signature: [unsigned('not verified: alg or kid is wrong')], refused: null };
    if (token.claims['iss'] !== expected.issuer)
      return { signature: [unsigned('not verified: another issuer')], refused: null };
    let key: CryptoKey | null;
    try {
      key = await this.keys.find(expected.issuer, { kid, alg });
    } catch (error) {
      if (!(error instanceof UnreadableKeys)) throw error;
      return {
        signature: [unsigned(`not verified: the issuer’s keys cannot be read: ${error.message}`)],
        refused: null,
      };
    }
    if (!key) {
      const signature = unsigned('the issuer has no key, or several, with this kid and alg');
      return { signature: kid === undefined ? [UNNAMED_KEY, signature] : [signature], refused: null };
    }
    return this.judgeWithKey(token, key, alg, expected);
  }

  private async judgeWithKey(
    token: ParsedIdToken,
    key: CryptoKey,
    alg: string,
    { issuer, audience }: Expected,
  ): Promise<{ signature: TokenCheck[]; refused: string | null }> {
    try {
      await jwtVerify(token.text, key, {
        algorithms: [alg],
        issuer,
        audience,
        clockTolerance: SKEW_SECONDS,
        maxTokenAge: MAX_AGE_SECONDS,
        requiredClaims: ['exp', 'iat'],
        currentDate: new Date(this.now()),
      });
      return { signature: [checked('signature', SIGNED, 'valid', true)], refused: null };
    } catch (error) {
      if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
        return { signature: [checked('signature', SIGNED, 'valid', true)], refused: error.claim };
      if (error instanceof errors.JOSEError)
        return { signature: [unsigned('not valid for the issuer’s key')], refused: null };
      throw error;
    }
  }

  private claimChecks(claims: ParsedIdToken['claims'], { issuer, audience }: Expected): TokenCheck[] {
    const seconds = Math.floor(this.now() / 1000);
    const { iss, aud, exp, iat, jti } = claims;
    const nbf = claimOf(claims, 'nbf');
    const isAudience = aud === audience || (Array.isArray(aud) && aud.length === 1 && aud[0] === audience);
    return [
      checked('iss', issuer, iss, iss === issuer),
      checked('aud', audience, aud, isAudience),
      checked('exp', `after ${seconds - SKEW_SECONDS}`, exp, isTime(exp) && exp > seconds - SKEW_SECONDS),
      checked(
        'nbf',
        `absent, or at most ${seconds + SKEW_SECONDS}`,
        nbf,
        nbf === undefined || (isTime(nbf) && nbf <= seconds + SKEW_SECONDS),
      ),
      checked(
        'iat',
        `${seconds - MAX_AGE_SECONDS - SKEW_SECONDS} to ${seconds + SKEW_SECONDS}`,
        iat,
        isTime(iat) && iat >= seconds - MAX_AGE_SECONDS - SKEW_SECONDS && iat <= seconds + SKEW_SECONDS,
      ),
      checked(
        'jti',
        `absent, or a text of 1 to ${MAX_ID_LENGTH} characters`,
        jti,
        jti === undefined || isIdText(jti),
      ),
    ];
  }
}

const SIGNED = 'of a key that the issuer publishes';

const unsigned = (reason: string): TokenCheck => checked('signature', SIGNED, reason, false);

const failed = (checks: readonly TokenCheck[], claim: string, found: unknown): TokenCheck => ({
  ...(checks.find((check) => check.claim === claim) ?? checked(claim, 'a right value', found, false)),
  ok: false,
});

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isIdText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH;

const isKeyId = (kid: unknown): kid is string | undefined => kid === undefined || isIdText(kid);

const UNNAMED_KEY = checked('kid', 'there: the issuer does not have exactly one key', undefined, false);

const headerChecks = ({ header: { alg, kid } }: ParsedIdToken): TokenCheck[] => [
  checked('alg', ALGORITHMS.join(', '), alg, typeof alg === 'string' && ALGORITHMS.includes(alg)),
  checked('kid', `absent, or a text of 1 to ${MAX_ID_LENGTH} characters`, kid, isKeyId(kid)),
];

/** What marks a verified token as used. */
export interface TokenUse {
  /** SHA-256 in hex of issuer and `jti`, or of what is signed */
  readonly hash: string;
  readonly until: Date;
}

/** @param token verified. Without `jti`, it is what is signed: of one text there can be several signatures */
export function tokenUse({ claims: { iss, jti, exp, iat }, text }: ParsedIdToken): TokenUse {
  const id = jti === undefined ? [iss, null, text.slice(0, text.lastIndexOf('.'))] : [iss, jti];
  const hash = createHash('sha256').update(JSON.stringify(id)).digest('hex');
  const last = Math.min(Number(exp), Number(iat) + MAX_AGE_SECONDS) + SKEW_SECONDS;
  return { hash, until: new Date(last * 1000 + REMEMBERED_MS) };
}
