import { setTimeout as delay } from 'node:timers/promises';
import { failureOf, requireDrawbridge, unreachable, Unreachable } from './failure';

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
  /** told of each wait for an answer, except for those that the request itself asks to come late */
  readonly onWait?: (<T>(url: string, answer: Promise<T>) => Promise<T>) | undefined;
  /** the pauses of one request that the server may ask for, all together: with a lease, as long as it lasts */
  readonly patienceMs?: number | undefined;
}

const PATIENCE_MS = 300_000;
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
const ANSWER_TIMEOUT_MS = 60_000;
/** What ends or keeps access is answered at once, or not at all. */
const STOP_OR_RENEW_TIMEOUT_MS = 10_000;

/** These change nothing when they are repeated. */
const STOP_OR_RENEW = /\/sessions\/[^/]+\/(?:stop|renew)$/;
/** Somebody waits for the outcome of a sign-in, and repeating it makes a lock longer. */
const SIGN_IN = /\/auth\//;

/**
 * A fetch that authenticates, waits as 429 and 503 ask, and throws for every refusal. What may have had an effect is sent
 * again only when it can be repeated: reads, requests with an Idempotency-Key, and those whose effect is the same twice.
 * @throws ApiFailure
 * @throws Unreachable
 */
export function sendingFetch({
  credential,
  onRetry,
  onWait,
  patienceMs = PATIENCE_MS,
}: SendingOptions): (request: Request) => Promise<Response> {
  const authenticated = async (request: Request): Promise<Response> => {
    const headers = (await credential?.headers()) ?? {};
    const prepared = request.clone();
    for (const [name, value] of Object.entries(headers)) prepared.headers.set(name, value);
    const answer = fetchOnce(prepared);
    const { origin, searchParams } = new URL(request.url);
    return onWait && !searchParams.has('waitSeconds') ? onWait(origin, answer) : answer;
  };
  return async (request) => {
    const began = Date.now();
    let hasRenewed = false;
    let unanswered = 0;
    for (;;) {
      const outcome = await authenticated(request).catch(orUnreachable);
      if (outcome instanceof Unreachable) {
        unanswered += 1;
        const isOver = unanswered >= MAX_ATTEMPTS || Date.now() - began >= timeoutOf(request);
        if (isOver || !outcome.isPassing || !isRepeatable(request)) throw outcome;
        await pause(FIRST_PAUSE_MS * 2 ** (unanswered - 1), outcome.message, request.signal, onRetry);
        continue;
      }
      if (outcome.ok) return outcome;
      if (outcome.status === 401 && !hasRenewed && (await credential?.renew())) {
        hasRenewed = true;
        continue;
      }
      const failure = await failureOf(outcome);
      const ms = pauseOf(outcome, request);
      if (ms === null || Date.now() + ms - began > patienceMs) throw failure;
      await pause(ms, failure.message, request.signal, onRetry);
    }
  };
}

async function fetchOnce(request: Request): Promise<Response> {
  const { origin } = new URL(request.url);
  const timeout = AbortSignal.timeout(timeoutOf(request));
  try {
    // followed, a redirect would take an API key to another server
    const response = await fetch(request, {
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, timeout]),
    });
    requireDrawbridge(response, origin);
    return response;
  } catch (error) {
    if (error instanceof Unreachable || request.signal.aborted) throw error;
    if (!timeout.aborted) throw unreachable(origin, error);
    throw new Unreachable(origin, `no answer within ${timeoutOf(request) / 1000} s`);
  }
}

function timeoutOf({ method, url }: Request): number {
  const isQuick = method === 'POST' && STOP_OR_RENEW.test(new URL(url).pathname);
  return isQuick ? STOP_OR_RENEW_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
}

function orUnreachable(error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  throw error;
}

function isRepeatable({ method, headers, url }: Request): boolean {
  if (method === 'GET' || headers.has('Idempotency-Key')) return true;
  return method === 'POST' && STOP_OR_RENEW.test(new URL(url).pathname);
}

/** @returns the pause that the server asks for before the request is repeated; null: it is not to be repeated */
function pauseOf({ status, headers }: Response, request: Request): number | null {
  // a request that is one too many has had no effect
  const mayRepeat = isRepeatable(request) || !SIGN_IN.test(request.url);
  if (!(status === 429 && mayRepeat) && !(status === 503 && isRepeatable(request))) return null;
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? 1000 * Math.max(1, seconds) : null;
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
