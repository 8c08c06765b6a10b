import { BoundedCache } from '../bounded-cache';
import { askJson } from './ask-json';
import { fingerprint, type ServicePrincipal } from './azure-credentials';
import { oddAnswer } from './azure-errors';
import type { Deadline } from './deadline';

interface KnownToken {
  readonly token: Promise<string>;
  /** milliseconds since 1970; no end while the token is on its way */
  renewAt: number;
}

const CAPACITY = 200;
const RENEW_BEFORE_MS = 300_000;
/** What may go into a header; a token is at most some kilobytes of it. */
const TOKEN = /^[\x21-\x7e]{1,20000}$/;

/** Tokens of the tenants' service principals, by OAuth client credentials, renewed five minutes before they run out. */
export class AccessTokens {
  private readonly known = new BoundedCache<KnownToken>(CAPACITY);

  /**
   * @param authority where tokens are given out, `https://login.microsoftonline.com`
   * @param audience what they are good for, `https://management.azure.com`
   */
  constructor(
    private readonly authority: string,
    private readonly audience: string,
  ) {}

  /** One request serves everyone who waits for it. @throws CallFailure */
  async token(principal: ServicePrincipal, deadline: Deadline): Promise<string> {
    const cacheKey = fingerprint(principal);
    const known = this.known.get(cacheKey);
    if (known && Date.now() < known.renewAt) return known.token;
    const fresh: KnownToken = {
      renewAt: Number.POSITIVE_INFINITY,
      token: this.request(principal, deadline).then(({ token, expiresAt }) => {
        fresh.renewAt = expiresAt - RENEW_BEFORE_MS;
        return token;
      }),
    };
    this.known.set(cacheKey, fresh);
    try {
      return await fresh.token;
    } catch (error) {
      if (this.known.get(cacheKey) === fresh) this.known.delete(cacheKey);
      throw error;
    }
  }

  /** Asks for a token now, whatever is kept. @throws CallFailure */
  async check(principal: ServicePrincipal, deadline: Deadline): Promise<void> {
    await this.request(principal, deadline);
  }

  /** Makes the next call ask for a new one: what the principal may do can have changed, or Azure's clock differs. */
  forget(principal: ServicePrincipal): void {
    this.known.delete(fingerprint(principal));
  }

  private async request(
    { tenantId, clientId, clientSecret }: ServicePrincipal,
    deadline: Deadline,
  ): Promise<{ token: string; expiresAt: number }> {
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
