import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { askJson } from './ask-json';
import { fingerprint, type ServicePrincipal } from './azure-credentials';
import { oddAnswer } from './azure-errors';
import type { Deadline } from './deadline';

/** What may go into a header; a token is at most some kilobytes of it. */
const TOKEN = /^[\x21-\x7e]{1,20000}$/;

/** Tokens of the tenants' service principals, by OAuth client credentials. */
export class AccessTokens {
  private readonly known = new TokenCache<string>();

  /**
   * @param authority where tokens are given out, `https://login.microsoftonline.com`
   * @param audience what they are good for, `https://management.azure.com`
   */
  constructor(
    private readonly authority: string,
    private readonly audience: string,
  ) {}

  /** @throws CallFailure */
  token(principal: ServicePrincipal, deadline: Deadline): Promise<CallToken<string>> {
    return this.known.take(fingerprint(principal), () => this.request(principal, deadline));
  }

  /** Asks for a token now, whatever is kept. @throws CallFailure */
  async check(principal: ServicePrincipal, deadline: Deadline): Promise<void> {
    await this.request(principal, deadline);
  }

  /** Makes the next call ask for a new one: what the principal may do can have changed, or Azure's clock differs. */
  forget(principal: ServicePrincipal): void {
    this.known.forget(fingerprint(principal));
  }

  private async request(
    { tenantId, clientId, clientSecret }: ServicePrincipal,
    deadline: Deadline,
  ): Promise<IssuedToken<string>> {
    const answer = await askJson(
      {
        what: 'the request for a token',
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
    const { access_token: token, expires_in: seconds } = answer;
    if (typeof token !== 'string' || !TOKEN.test(token)) throw oddAnswer('the request for a token');
    const lifeSeconds = Number(seconds);
    if (!(lifeSeconds > 0)) throw oddAnswer('the request for a token');
    return { token, expiresAt: Date.now() + lifeSeconds * 1000 };
  }
}
