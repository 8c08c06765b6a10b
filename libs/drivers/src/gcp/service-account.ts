import { createPrivateKey, type KeyObject } from 'node:crypto';
import { credentialFields } from '../credential-fields';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import type { DriverCredential } from '../provider-driver';
import { signedJwt } from '../signed-jwt';
import { GCP_FACTS } from './gcp.facts';

/** The identity of a tenant's key. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly key: KeyObject;
  /** identifies account and key in the token cache */
  readonly cacheKey: string;
}

export const TOKEN_URL = 'https://oauth2.googleapis.com/token';
/** The second one is for the question which permissions are granted. */
const SCOPE =
  'https://www.googleapis.com/auth/compute https://www.googleapis.com/auth/cloud-platform.read-only';
const LIFETIME_SECONDS = 3600;

/**
 * The service account of a tenant's credential. Other fields of Google's key file are ignored: its URLs would determine
 * where the signed assertion is sent.
 * @throws DriverError `denied` when a field is missing or the key is invalid
 */
export function readServiceAccount(credential: DriverCredential): ServiceAccount {
  const field = credentialFields(GCP_FACTS, credential);
  const email = field('client_email');
  const pem = field('private_key');
  const keyId = field('private_key_id') || null;
  return { email, keyId, key: readKey(pem), cacheKey: fingerprint(email, pem) };
}

/** The signed JWT that is exchanged for a token. Its audience is always Google's token URL, even for another endpoint. */
export function assertionOf({ email, keyId, key }: ServiceAccount): string {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims = {
    iss: email,
    scope: SCOPE,
    aud: TOKEN_URL,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  };
  return signedJwt(claims, keyId, key);
}

function readKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new DriverError('denied', 'private_key is not a readable private key');
  }
  if (key.asymmetricKeyType === 'rsa') return key;
  throw new DriverError('denied', 'private_key is not an RSA key');
}
