import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { requireSubjectCondition } from '../identity-tokens';
import type { DriverCredential } from '../provider-driver';
import { assertionOf, readServiceAccount, TOKEN_URL, type ServiceAccount } from './service-account';
import { requestToken } from './token-request';
import { readWorkloadIdentity, TokenExchange, type WorkloadIdentity } from './workload-identity';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** How a tenant's credential gets access tokens: by a key, or by the trust in the organization's issuer. */
export type GoogleIdentity = ServiceAccount | WorkloadIdentity;

/** @throws DriverError `denied` when the credential is unusable */
export const readIdentity = (credential: DriverCredential): GoogleIdentity =>
  credential.credentialType === 'FEDERATION'
    ? readWorkloadIdentity(credential)
    : readServiceAccount(credential);

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
      () => this.exchange.issueFederatedToken(identity, 'probe'),
      `The provider ${identity.provider}`,
    );
  }

  private request(account: GoogleIdentity): Promise<IssuedToken<string>> {
    if (!('key' in account)) return this.exchange.issueToken(account);
    const assertion = assertionOf(account);
    const body = new URLSearchParams({ grant_type: GRANT, assertion });
    const operation = 'the token request';
    return requestToken({ operation, url: this.endpoint, body, secrets: [assertion] });
  }
}
