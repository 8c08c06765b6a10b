/** The part of autocannon that is used here; the package has no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface LoadRequest {
    readonly body?: string;
  }

  interface LoadOptions {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly connections: number;
    readonly amount: number;
    readonly overallRate?: number;
    readonly requests: readonly { readonly setupRequest: (request: LoadRequest) => LoadRequest }[];
  }

  interface LoadResult {
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly latency: { readonly p50: number; readonly p99: number };
  }

  type Run = EventEmitter & PromiseLike<LoadResult>;
  export default function autocannon(options: LoadOptions): Run;
}
