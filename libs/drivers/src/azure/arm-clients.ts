import { NetworkManagementClient } from '@azure/arm-network';
import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { CallToken } from '../call-tokens';
import type { Deadline } from '../deadline';
import { egressAgents } from '../egress';
import { unexpectedResponse } from './azure-errors';

type Policy = Parameters<NetworkManagementClient['pipeline']['addPolicy']>[0];

const CAPACITY = 200;

/** What the requests of a driver call are sent with. */
interface CallContext {
  readonly token: CallToken<string>;
  readonly deadline: Deadline;
}

/** Resource manager clients by subscription. A client holds no credential: each call sets its token. */
export class ArmClients {
  private readonly clients = new LRUCache<string, NetworkManagementClient>({ max: CAPACITY });
  private readonly calls = new AsyncLocalStorage<CallContext>();

  /** @param endpoint without trailing slash */
  constructor(readonly endpoint: string) {}

  clientFor(subscriptionId: string): NetworkManagementClient {
    const known = this.clients.get(subscriptionId);
    if (known) return known;
    const client = new NetworkManagementClient(
      { getToken: () => Promise.reject(new Error('Clients have no credential: each call sets its token')) },
      subscriptionId,
      {
        endpoint: this.endpoint,
        allowInsecureConnection: true,
        retryOptions: { maxRetries: 0 },
        redirectOptions: { maxRetries: 0 },
        userAgentOptions: { userAgentPrefix: 'drawbridge' },
      },
    );
    // The SDK's policy refuses to send a token without TLS, which a simulated cloud or a local gateway needs.
    client.pipeline.removePolicy({ name: 'bearerTokenAuthenticationPolicy' });
    // It would read HTTPS_PROXY.
    client.pipeline.removePolicy({ name: 'proxyPolicy' });
    // Innermost phase: outer policies get an error instead of the 401 response.
    client.pipeline.addPolicy(authorize(this.endpoint, this.calls), { phase: 'Sign' });
    this.clients.set(subscriptionId, client);
    return client;
  }

  /** Runs the work: every request of the clients is sent with the token, and limited by the deadline. */
  within<T>(context: CallContext, work: () => Promise<T>): Promise<T> {
    return this.calls.run(context, work);
  }
}

/**
 * Responses contain the URLs of next pages and operations: the token must not be sent to another host. A request that
 * is answered with 401 had no effect: it is retried with a new token.
 */
function authorize(endpoint: string, calls: AsyncLocalStorage<CallContext>): Policy {
  const base = `${endpoint}/`;
  return {
    name: 'drawbridgeAuthorization',
    sendRequest: async (request, next) => {
      const call = calls.getStore();
      if (!call) throw new Error('A call to Azure without a token');
      const { token, deadline } = call;
      request.timeout = Math.ceil(deadline.requestTimeoutMs);
      request.abortSignal = deadline.signal;
      const { http, https } = egressAgents();
      request.agent = request.url.startsWith('https:') ? https : http;
      if (!new URL(request.url).href.startsWith(new URL(base).href))
        throw unexpectedResponse('a call (the URL points to another host)');
      const used = token.current;
      request.headers.set('authorization', `Bearer ${used}`);
      const response = await next(request);
      const replacement = response.status === 401 ? await token.replace(used) : null;
      if (replacement === null) return response;
      request.headers.set('authorization', `Bearer ${replacement}`);
      return next(request);
    },
  };
}
