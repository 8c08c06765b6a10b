import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { fingerprint } from '../fingerprint';
import type { ServicePrincipal } from './azure-credentials';
import { unexpectedResponse } from './azure-errors';
import type { Deadline } from './deadline';
import { requestJson } from './request-json';

/** Characters that are valid in a header. A token has some kilobytes at most. */
const TOKEN = /^[\x21-\x7e]{1,20000}$/;

/** Tokens for the tenants' service principals (OAuth client credentials grant). */
export class AccessTokens {
  private readonly tokens = new TokenCache<string>();

  /**
   * @param authority URL of the token service, `https://login.microsoftonline.com`
   * @param audience resource of the tokens, `https://management.azure.com`
   */
  constructor(
    private readonly authority: string,
    private readonly audience: string,
  ) {}

  /** @throws CallFailure */
  token(principal: ServicePrincipal, deadline: Deadline): Promise<CallToken<string>> {
    return this.tokens.take(cacheKey(principal), () => this.request(principal, deadline));
  }

  /** Requests a token without the cache. @throws CallFailure */
  async check(principal: ServicePrincipal, deadline: Deadline): Promise<void> {
    await this.request(principal, deadline);
  }

  /** Makes the next call request a new token: the permissions may have changed, or Azure's clock differs. */
  forget(principal: ServicePrincipal): void {
    this.tokens.forget(cacheKey(principal));
  }

  private async request(
    { tenantId, clientId, clientSecret }: ServicePrincipal,
    deadline: Deadline,
  ): Promise<IssuedToken<string>> {
    const response = await requestJson(
      {
        operation: 'the token request',
        url: `${this.authority}/${tenantId}/oauth2/v2.0/token`,
        form: {
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: clientSecret,
          scope: `${this.audience}/.default`,
        },
        secrets: [clientSecret],
      },
      deadline,
    );
    const { access_token: token, expires_in: seconds } = response;
    if (typeof token !== 'string' || !TOKEN.test(token)) throw unexpectedResponse('the token request');
    const lifeSeconds = Number(seconds);
    if (!(lifeSeconds > 0)) throw unexpectedResponse('the token request');
    return { token, expiresAt: Date.now() + lifeSeconds * 1000 };
  }
}

const cacheKey = ({ tenantId, clientId, clientSecret }: ServicePrincipal): string =>
  fingerprint(tenantId, clientId, clientSecret);
