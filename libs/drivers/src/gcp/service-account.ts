import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import type { DriverCredential } from '../provider-driver';
import { unexpectedResponse, tokenRefusal } from './gcp-errors';
import { exchange } from './rest-exchange';

/** The identity of a tenant's key. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly key: KeyObject;
  /** identifies account and key in the token cache */
  readonly cacheKey: string;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The second one is for the question which permissions are granted. */
const SCOPE =
  'https://www.googleapis.com/auth/compute https://www.googleapis.com/auth/cloud-platform.read-only';
const LIFETIME_SECONDS = 3600;
const REQUEST_TIMEOUT_MS = 5000;

/**
 * Reads the service account of a tenant's credential. Other fields of Google's key file are ignored: its URLs would
 * determine where the signed assertion is sent.
 * @throws DriverError `denied` when a field is missing or the key is invalid
 */
export function readServiceAccount({ credentialType, data }: DriverCredential): ServiceAccount {
  if (credentialType !== 'SERVICE_ACCOUNT') {
    throw new DriverError('denied', `A GCP credential is SERVICE_ACCOUNT, not ${credentialType}`);
  }
  const email = field(data, 'client_email');
  const pem = field(data, 'private_key');
  return {
    email,
    keyId: data['private_key_id'] ?? null,
    key: readKey(pem),
    cacheKey: fingerprint(email, pem),
  };
}

/**
 * Access tokens for service accounts. Does not use Google's auth library, which retries, has no timeout and searches
 * for other credentials.
 */
export class AccessTokens {
  private readonly tokens = new TokenCache<string>();
  private readonly endpoint: string;

  constructor(environment: NodeJS.ProcessEnv) {
    this.endpoint = environment['GOOGLE_OAUTH_TOKEN_URL'] || TOKEN_URL;
  }

  /** @throws DriverError */
  token(account: ServiceAccount): Promise<CallToken<string>> {
    return this.tokens.take(account.cacheKey, () => this.request(account));
  }

  /** Requests a token without the cache. @throws DriverError */
  async check(account: ServiceAccount): Promise<void> {
    await this.request(account);
  }

  /** Makes the next call request a new token. */
  forget({ cacheKey }: ServiceAccount): void {
    this.tokens.forget(cacheKey);
  }

  private async request(account: ServiceAccount): Promise<IssuedToken<string>> {
    const body = new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(account) });
    const response = await exchange(
      this.endpoint,
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
      },
      REQUEST_TIMEOUT_MS,
      tokenRefusal,
    );
    const issued = JSON.parse(response) as { access_token?: unknown; expires_in?: unknown };
    if (typeof issued.access_token !== 'string' || typeof issued.expires_in !== 'number') {
      throw unexpectedResponse('the token request');
    }
    return { token: issued.access_token, expiresAt: Date.now() + issued.expires_in * 1000 };
  }
}

/** The signed JWT that is exchanged for a token. Its audience is always Google's token URL, even for another endpoint. */
function assertionOf({ email, keyId, key }: ServiceAccount): string {
  const issuedAt = Math.floor(Date.now() / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId && { kid: keyId }) };
  const claims = {
    iss: email,
    scope: SCOPE,
    aud: TOKEN_URL,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
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

function field(data: Readonly<Record<string, string>>, name: string): string {
  const value = data[name];
  if (value) return value;
  throw new DriverError('denied', `The credential has no ${name}`);
}
