import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Drawbridge';
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** Tolerates clock skew: the previous and the next code are accepted as well. */
const WINDOW_STEPS = 1;
/** recommended by RFC 4226 */
const SECRET_BYTES = 20;

const totpOf = (secret: Secret, email: string): TOTP =>
  // SHA-1 is supported by every authenticator; its collisions do not affect HMAC
  new TOTP({
    issuer: ISSUER,
    label: email,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret,
  });

export interface Enrolment {
  /** base32, to be typed into an authenticator */
  readonly secret: string;
  /** the same as a link, for QR codes */
  readonly otpauthUrl: string;
}

/** A new secret for an authenticator. */
export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: SECRET_BYTES });
  return { secret: secret.base32, otpauthUrl: totpOf(secret, email).toString() };
}

/** The time step of a code within the window around now; null when the code is wrong. */
export function stepOf(code: string, secret: string, now = Date.now()): number | null {
  // the library compares bytes, and throws for six characters that take more than six
  if (!looksLikeTotp(code)) return null;
  const totp = totpOf(Secret.fromBase32(secret), '');
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW_STEPS });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

/** Whether the text has the format of an authenticator code. Other texts may be recovery codes. */
export const looksLikeTotp = (code: string): boolean => /^\d{6}$/.test(code);
