import { NetworkManagementClient } from '@azure/arm-network';
import { AsyncLocalStorage } from 'node:async_hooks';
import { BoundedCache } from '../bounded-cache';
import type { CallToken } from '../call-tokens';
import { oddAnswer } from './azure-errors';
import { Deadline } from './deadline';

type Policy = Parameters<NetworkManagementClient['pipeline']['addPolicy']>[0];

const CAPACITY = 200;
const TIMEOUT_HEADER = 'x-drawbridge-timeout';

/** One client of the resource manager for each subscription. It holds no credential: each call has its own token. */
export class ArmClients {
  private readonly clients = new BoundedCache<NetworkManagementClient>(CAPACITY);
  private readonly tokens = new AsyncLocalStorage<CallToken<string>>();

  /** @param endpoint without a slash at its end */
  constructor(readonly endpoint: string) {}

  for(subscriptionId: string): NetworkManagementClient {
    const known = this.clients.get(subscriptionId);
    if (known) return known;
    const client = new NetworkManagementClient(
      { getToken: () => Promise.reject(new Error('No credential but the call’s own is ever used')) },
      subscriptionId,
      {
        endpoint: this.endpoint,
        allowInsecureConnection: true,
        retryOptions: { maxRetries: 0 },
        redirectOptions: { maxRetries: 0 },
        userAgentOptions: { userAgentPrefix: 'drawbridge' },
      },
    );
    // The SDK's own takes no token to an endpoint without TLS, as a simulated cloud or a gateway beside us is.
    client.pipeline.removePolicy({ name: 'bearerTokenAuthenticationPolicy' });
    // Next to the wire: further out the SDK has already made an error of a refusal.
    client.pipeline.addPolicy(authorize(this.endpoint, this.tokens), { phase: 'Sign' });
    this.clients.set(subscriptionId, client);
    return client;
  }

  /** Every request that the clients make for this work carries the token. */
  as<T>(token: CallToken<string>, work: () => Promise<T>): Promise<T> {
    return this.tokens.run(token, work);
  }

  /** What a call has to be given. */
  static options(deadline: Deadline): CallOptions {
    return {
      abortSignal: deadline.signal,
      requestOptions: {
        customHeaders: { [TIMEOUT_HEADER]: String(Math.ceil(deadline.requestMs)) },
      },
    };
  }
}

export interface CallOptions {
  readonly abortSignal: AbortSignal;
  readonly requestOptions: { readonly customHeaders: Record<string, string> };
}

/**
 * Next pages and operations are at addresses that answers give: the token goes to no other host. What is answered with
 * 401 was not carried out: it is sent again where another token may help.
 */
function authorize(endpoint: string, tokens: AsyncLocalStorage<CallToken<string>>): Policy {
  const base = `${endpoint}/`;
  return {
    name: 'drawbridgeAuthorization',
    sendRequest: async (request, next) => {
      const token = tokens.getStore();
      if (!token) throw new Error('A call to Azure without a token');
      request.timeout = Number(request.headers.get(TIMEOUT_HEADER));
      request.headers.delete(TIMEOUT_HEADER);
      if (!new URL(request.url).href.startsWith(new URL(base).href))
        throw oddAnswer('a call (it leads elsewhere)');
      const used = token.current;
      request.headers.set('authorization', `Bearer ${used}`);
      const response = await next(request);
      const other = response.status === 401 ? await token.insteadOf(used) : null;
      if (other === null) return response;
      request.headers.set('authorization', `Bearer ${other}`);
      return next(request);
    },
  };
}
