import { createHash, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import type { DriverCredential } from '../provider-driver';
import { oddAnswer, tokenRefusal } from './gcp-errors';
import { exchange } from './rest-exchange';

/** Who a tenant's key belongs to. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly key: KeyObject;
  /** tells the keys of one account apart, and gives none away */
  readonly fingerprint: string;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SCOPE = 'https://www.googleapis.com/auth/compute';
const LIFETIME_SECONDS = 3600;
const REQUEST_TIMEOUT_MS = 5000;

/**
 * The service account that a tenant's credential holds. Of Google's key file nothing else is ever used: the addresses
 * in it would say where the key is sent.
 * @throws DriverError `denied` when a field is missing or the key is none
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
    fingerprint: createHash('sha256')
      .update(JSON.stringify([email, pem]))
      .digest('base64'),
  };
}

/**
 * Access tokens for service accounts. Signed here and not by Google's
 * auth library, because that one asks again by itself, waits without end and looks for other identities.
 */
export class AccessTokens {
  private readonly tokens = new TokenCache<string>();
  private readonly endpoint: string;

  constructor(environment: NodeJS.ProcessEnv) {
    this.endpoint = environment['GOOGLE_OAUTH_TOKEN_URL'] || TOKEN_URL;
  }

  /** @throws DriverError */
  token(account: ServiceAccount): Promise<CallToken<string>> {
    return this.tokens.take(account.fingerprint, () => this.ask(account));
  }

  /** Asks for a token now, whatever is kept. @throws DriverError */
  async check(account: ServiceAccount): Promise<void> {
    await this.ask(account);
  }

  /** Makes the next call ask for a new token. */
  forget({ fingerprint }: ServiceAccount): void {
    this.tokens.forget(fingerprint);
  }

  private async ask(account: ServiceAccount): Promise<IssuedToken<string>> {
    const body = new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(account) });
    const answer = await exchange(
      this.endpoint,
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
      },
      REQUEST_TIMEOUT_MS,
      tokenRefusal,
    );
    const given = JSON.parse(answer) as { access_token?: unknown; expires_in?: unknown };
    if (typeof given.access_token !== 'string' || typeof given.expires_in !== 'number') {
      throw oddAnswer('the request for a token');
    }
    return { token: given.access_token, expiresAt: Date.now() + given.expires_in * 1000 };
  }
}

/** The claim that Google gives a token for. Its audience is Google's, also when the endpoint is another. */
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
    throw new DriverError('denied', 'private_key is no private key that can be read');
  }
  if (key.asymmetricKeyType === 'rsa') return key;
  throw new DriverError('denied', 'private_key is no RSA key');
}

function field(data: Readonly<Record<string, string>>, name: string): string {
  const value = data[name];
  if (value) return value;
  throw new DriverError('denied', `The credential has no ${name}`);
}
