import { NetworkManagementClient } from '@azure/arm-network';
import { BoundedCache } from '../bounded-cache';
import { oddAnswer } from './azure-errors';
import { Deadline } from './deadline';

type Policy = Parameters<NetworkManagementClient['pipeline']['addPolicy']>[0];

const CAPACITY = 200;
const TOKEN_HEADER = 'x-drawbridge-token';
const TIMEOUT_HEADER = 'x-drawbridge-timeout';

/** One client of the resource manager for each subscription. It holds no credential: each call brings its token. */
export class ArmClients {
  private readonly clients = new BoundedCache<NetworkManagementClient>(CAPACITY);

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
    client.pipeline.addPolicy(authorize(this.endpoint));
    this.clients.set(subscriptionId, client);
    return client;
  }

  /** What a call has to be given. */
  static options(token: string, deadline: Deadline): CallOptions {
    return {
      abortSignal: deadline.signal,
      requestOptions: {
        customHeaders: { [TOKEN_HEADER]: token, [TIMEOUT_HEADER]: String(Math.ceil(deadline.requestMs)) },
      },
    };
  }
}

export interface CallOptions {
  readonly abortSignal: AbortSignal;
  readonly requestOptions: { readonly customHeaders: Record<string, string> };
}

/** Next pages and operations are at addresses that answers give: the token goes to no other host. */
function authorize(endpoint: string): Policy {
  const base = `${endpoint}/`;
  return {
    name: 'drawbridgeAuthorization',
    sendRequest: async (request, next) => {
      const token = request.headers.get(TOKEN_HEADER);
      request.timeout = Number(request.headers.get(TIMEOUT_HEADER));
      request.headers.delete(TOKEN_HEADER);
      request.headers.delete(TIMEOUT_HEADER);
      if (!new URL(request.url).href.startsWith(new URL(base).href))
        throw oddAnswer('a call (it leads elsewhere)');
      request.headers.set('authorization', `Bearer ${token}`);
      return next(request);
    },
  };
}
