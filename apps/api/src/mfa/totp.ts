import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Drawbridge';
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** Clocks differ: the code before and the code after are right too. */
const STEPS_AROUND = 1;
/** what RFC 4226 recommends */
const SECRET_BYTES = 20;

const totpOf = (secret: Secret, email: string): TOTP =>
  // SHA-1 is what every authenticator reads; as an HMAC it is not what its collisions broke
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
  /** the same for one that reads links */
  readonly otpauthUrl: string;
}

/** A new secret for an authenticator. */
export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: SECRET_BYTES });
  return { secret: secret.base32, otpauthUrl: totpOf(secret, email).toString() };
}

/** The time step whose code it is, near now; null when it is none's. */
export function stepOf(code: string, secret: string, now = Date.now()): number | null {
  const totp = totpOf(Secret.fromBase32(secret), '');
  const delta = totp.validate({ token: code, timestamp: now, window: STEPS_AROUND });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

/** Whether the text looks like an authenticator's code; what does not may be a recovery code. */
export const looksLikeTotp = (code: string): boolean => /^\d{6}$/.test(code);
