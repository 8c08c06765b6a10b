import { AsyncLocalStorage } from 'node:async_hooks';
import type { FirewallsClient } from '@google-cloud/compute/build/src/v1/firewalls_client';
import type { GlobalOperationsClient } from '@google-cloud/compute/build/src/v1/global_operations_client';
import type { NetworksClient } from '@google-cloud/compute/build/src/v1/networks_client';
import { CallFailure } from '../call-failure';
import { oddAnswer, refusal } from './gcp-errors';
import { exchange } from './rest-exchange';

export interface ComputeClients {
  readonly firewalls: FirewallsClient;
  readonly operations: GlobalOperationsClient;
  readonly networks: NetworksClient;
}

/** What one call is made with. */
interface CallContext {
  readonly token: string;
  readonly withinMs: number;
}

/** How each call is made: the library would repeat some by itself. A new object each, because the library writes in it. */
export const once = (): { retry: null } => ({ retry: null });

/**
 * Google's clients for Compute, one set for all tenants: each costs a look through all of Compute's types. They turn
 * calls into REST requests and answers into objects; the requests go through `exchange`, with the token of the call.
 */
export class ComputeApi {
  private readonly calls = new AsyncLocalStorage<CallContext>();
  private readonly base: string | undefined;
  private clients: Promise<ComputeClients> | undefined;

  /** @param environment where `GCP_COMPUTE_URL` is read: what stands before `/compute/v1` */
  constructor(environment: NodeJS.ProcessEnv) {
    this.base = environment['GCP_COMPUTE_URL']?.replace(/\/+$/, '') || undefined;
  }

  /** Loads the clients. It takes seconds, in which the process does little else: not while somebody waits for a rule. */
  async ready(): Promise<void> {
    await (this.clients ??= this.load());
  }

  /** @throws CallFailure, also for an answer in another shape */
  async call<T>(context: CallContext, send: (clients: ComputeClients) => Promise<T>): Promise<T> {
    this.clients ??= this.load();
    const clients = await this.clients;
    try {
      return await this.calls.run(context, () => send(clients));
    } catch (error) {
      if (error instanceof CallFailure) throw error;
      throw oddAnswer(`Compute (${error instanceof Error ? error.name : 'no error'})`);
    }
  }

  private async load(): Promise<ComputeClients> {
    const [{ FirewallsClient }, { GlobalOperationsClient }, { NetworksClient }] = await Promise.all([
      import('@google-cloud/compute/build/src/v1/firewalls_client.js'),
      import('@google-cloud/compute/build/src/v1/global_operations_client.js'),
      import('@google-cloud/compute/build/src/v1/networks_client.js'),
    ]);
    // Given what it would otherwise look for: an identity in files and at the metadata server, and a universe.
    const options = (): ConstructorParameters<typeof FirewallsClient>[0] =>
      ({
        authClient: { getRequestHeaders: () => new Headers(), fetch: this.send },
        fallback: true,
        universeDomain: 'googleapis.com',
      }) as unknown as ConstructorParameters<typeof FirewallsClient>[0];
    return {
      firewalls: new FirewallsClient(options()),
      operations: new GlobalOperationsClient(options()),
      networks: new NetworksClient(options()),
    };
  }

  /** The clients' way out, instead of the one of Google's auth library. */
  private readonly send = async (
    url: string,
    { method, headers, body }: { method: string; headers: Headers; body?: string },
  ): Promise<Response> => {
    const context = this.calls.getStore();
    if (!context) throw new Error('A call to Compute without a token');
    headers.set('authorization', `Bearer ${context.token}`);
    const { pathname, search, origin } = new URL(url);
    const text = await exchange(
      `${this.base ?? origin}${pathname}${search}`,
      { method, headers, ...(body !== undefined && { body }) },
      context.withinMs,
      refusal,
    );
    return new Response(text);
  };
}
