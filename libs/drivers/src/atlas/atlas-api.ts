import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { requestToken } from '../client-credentials';
import type { Deadline } from '../deadline';
import { fingerprint } from '../fingerprint';
import { requestJson, type JsonAnswer, type JsonRequest } from '../request-json';
import { isError, refusalOf, unexpectedResponse } from './atlas-errors';

const API = { cloud: 'Atlas', refusalOf };
/** A version of the API that has service accounts and entries with an end. */
const ACCEPT = 'application/vnd.atlas.2023-01-01+json';

export interface ServiceAccount {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Tokens for the tenants' service accounts (OAuth client credentials grant). */
export class AtlasTokens {
  private readonly tokens = new TokenCache<string>();

  /** @param endpoint without trailing slash */
  constructor(private readonly endpoint: string) {}

  /** @throws CallFailure */
  token(account: ServiceAccount, deadline: Deadline): Promise<CallToken<string>> {
    const key = fingerprint(account.clientId, account.clientSecret);
    return this.tokens.take(key, () => this.request(account, deadline));
  }

  /** Requests a token without the cache. @throws CallFailure */
  request({ clientId, clientSecret }: ServiceAccount, deadline: Deadline): Promise<IssuedToken<string>> {
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const request = {
      url: `${this.endpoint}/api/oauth/token`,
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      secrets: [clientSecret, basic],
    };
    return requestToken(API, request, deadline.requestTimeoutMs);
  }
}

/** Client for the administration API, for one driver call. */
export class AtlasApi {
  constructor(
    private readonly endpoint: string,
    readonly token: CallToken<string>,
    readonly deadline: Deadline,
  ) {}

  /** @param path below the API, with leading slash @throws CallFailure also for an error in a successful response */
  async request(
    operation: string,
    path: string,
    more: Pick<JsonRequest, 'method' | 'body' | 'mayBeEmpty'> = {},
  ): Promise<JsonAnswer> {
    const answer = await this.token.use((token) =>
      requestJson(
        API,
        {
          operation,
          url: `${this.endpoint}/api/atlas/v2${path}`,
          headers: { authorization: `Bearer ${token}`, accept: ACCEPT, 'content-type': ACCEPT },
          secrets: [token],
          ...more,
        },
        this.deadline.requestTimeoutMs,
      ),
    );
    if (isError(answer.body)) throw unexpectedResponse(operation);
    return answer;
  }
}
