import { setTimeout as delay } from 'node:timers/promises';
import { connectionReason, failureOf, Unreachable } from './failure';

/** How a request is authenticated. */
export interface Credential {
  /** the headers of the next request */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** after a 401: gets a new token. @returns whether to send the request once more */
  renew(): Promise<boolean>;
}

export interface SendingOptions {
  readonly credential: Credential | null;
  /** told before each pause */
  readonly onRetry?: ((reason: string, seconds: number) => void) | undefined;
}

const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
/** A server that asks for a longer pause is an error: it is not waited for. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** These change nothing when they are repeated. */
const REPEATABLE_POSTS = /\/sessions\/[^/]+\/(?:stop|renew)$/;

/**
 * A fetch that authenticates, waits as 429 and 503 ask, and throws for every refusal. What may have had an effect is sent
 * again only when it can be repeated: reads, requests with an Idempotency-Key, and those whose effect is the same twice.
 * @throws ApiFailure
 * @throws Unreachable
 */
export function sendingFetch({
  credential,
  onRetry,
}: SendingOptions): (request: Request) => Promise<Response> {
  const authenticated = async (request: Request): Promise<Response> => {
    const headers = (await credential?.headers()) ?? {};
    const prepared = request.clone();
    for (const [name, value] of Object.entries(headers)) prepared.headers.set(name, value);
    return fetchOnce(prepared);
  };
  return async (request) => {
    let hasRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= MAX_ATTEMPTS || !isRepeatable(request);
      const outcome = await authenticated(request).catch((error: unknown) => orUnreachable(error, isLast));
      if (outcome instanceof Unreachable) {
        await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), outcome.message, request.signal, onRetry);
        continue;
      }
      if (outcome.ok) return outcome;
      if (outcome.status === 401 && !hasRenewed && (await credential?.renew())) {
        hasRenewed = true;
        continue;
      }
      const seconds = retryAfter(outcome);
      if (isLast || seconds === null) throw await failureOf(outcome);
      const { message } = await failureOf(outcome);
      await pause(1000 * seconds, message, request.signal, onRetry);
    }
  };
}

async function fetchOnce(request: Request): Promise<Response> {
  try {
    // followed, the request would take an API key to another server
    return await fetch(request, { redirect: 'manual' });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Unreachable(new URL(request.url).origin, connectionReason(error));
  }
}

function orUnreachable(error: unknown, isLast: boolean): Unreachable {
  if (error instanceof Unreachable && !isLast) return error;
  throw error;
}

function isRepeatable({ method, headers, url }: Request): boolean {
  if (method === 'GET' || headers.has('Idempotency-Key')) return true;
  return method === 'POST' && REPEATABLE_POSTS.test(new URL(url).pathname);
}

/** @returns seconds to wait before the request may be repeated; null: it is not to be repeated */
function retryAfter({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null;
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 && seconds <= MAX_RETRY_AFTER_SECONDS ? seconds : null;
}

async function pause(
  ms: number,
  reason: string,
  signal: AbortSignal,
  onRetry: SendingOptions['onRetry'],
): Promise<void> {
  onRetry?.(reason, Math.ceil(ms / 1000));
  await delay(ms, undefined, { signal });
}
