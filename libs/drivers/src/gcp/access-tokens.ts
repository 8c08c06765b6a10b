import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { requireSubjectCondition } from '../identity-tokens';
import type { DriverCredential } from '../provider-driver';
import { tokenRefusal, unexpectedResponse } from './gcp-errors';
import { exchange } from './rest-exchange';
import { assertionOf, readServiceAccount, TOKEN_URL, type ServiceAccount } from './service-account';
import { readWorkloadIdentity, TokenExchange, type WorkloadIdentity } from './workload-identity';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const REQUEST_TIMEOUT_MS = 5000;

/** How a tenant's credential gets access tokens: by a key, or by the trust in the organization's issuer. */
export type GoogleIdentity = ServiceAccount | WorkloadIdentity;

/** @throws DriverError `denied` when the credential is unusable */
export function readIdentity(credential: DriverCredential): GoogleIdentity {
  const { credentialType } = credential;
  if (credentialType === 'SERVICE_ACCOUNT') return readServiceAccount(credential);
  if (credentialType === 'FEDERATION') return readWorkloadIdentity(credential);
  throw new DriverError('denied', `A GCP credential is SERVICE_ACCOUNT or FEDERATION, not ${credentialType}`);
}

/**
 * Access tokens for tenants' credentials. Does not use Google's auth library, which retries, has no timeout and searches
 * for other credentials.
 */
export class AccessTokens {
  private readonly tokens = new TokenCache<string>();
  private readonly endpoint: string;
  private readonly exchange: TokenExchange;

  constructor(environment: NodeJS.ProcessEnv) {
    this.endpoint = environment['GOOGLE_OAUTH_TOKEN_URL'] || TOKEN_URL;
    this.exchange = new TokenExchange(environment);
  }

  /** @throws DriverError */
  token(identity: GoogleIdentity): Promise<CallToken<string>> {
    return this.tokens.take(identity.cacheKey, () => this.request(identity));
  }

  /** Requests a token without the cache. @throws DriverError also when the trust accepts any subject */
  async check(identity: GoogleIdentity): Promise<void> {
    await this.request(identity);
    await this.requireSubjectCondition(identity);
  }

  /** @throws DriverError `denied` when a pool of the tenant accepts any subject of the issuer */
  async requireSubjectCondition(identity: GoogleIdentity): Promise<void> {
    if ('key' in identity) return;
    await requireSubjectCondition(
      identity.identity,
      () => this.exchange.federated(identity, 'probe'),
      `The provider ${identity.provider}`,
    );
  }

  /** Makes the next call request a new token. */
  forget({ cacheKey }: GoogleIdentity): void {
    this.tokens.forget(cacheKey);
  }

  private async request(account: GoogleIdentity): Promise<IssuedToken<string>> {
    if (!('key' in account)) return this.exchange.token(account);
    const assertion = assertionOf(account);
    const body = new URLSearchParams({ grant_type: GRANT, assertion });
    const response = await exchange(
      this.endpoint,
      {
        method: 'POST',
        secrets: [assertion],
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
