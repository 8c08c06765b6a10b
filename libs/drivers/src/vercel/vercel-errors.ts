import type { DriverErrorKind } from '#rules';
import { CallFailure, NEVER_SENT, withoutSecrets } from '../call-failure';
import { readRetryAfter } from '../retry-after';
import { isRecord } from '../untrusted-json';

/** Vercel's codes that say more than the HTTP status; it has no list of them. */
const KIND_OF: ReadonlyMap<string, DriverErrorKind> = new Map([
  ['rate_limited', 'throttled'],
  ['too_many_requests', 'throttled'],
  ['forbidden', 'denied'],
  ['unauthorized', 'denied'],
  ['not_authorized', 'denied'],
  ['invalid_token', 'denied'],
  ['payment_required', 'quota'],
  ['conflict', 'conflict'],
  ['internal_server_error', 'transient'],
  ['service_unavailable', 'transient'],
]);
const KIND_OF_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'denied'],
  // a feature or a number that the plan does not have
  [402, 'quota'],
  [403, 'denied'],
  [404, 'target-missing'],
  [409, 'conflict'],
  [410, 'target-missing'],
  [412, 'conflict'],
  [413, 'quota'],
]);
/** What is left of a limit or of a plan is said in many codes. */
const LIMIT = /limit|quota|plan_|upgrade|too_many|too_large/;
const MAX_WAIT_MS = 3_600_000;

/** An answer that says neither yes nor no. */
export const oddAnswer = (what: string): CallFailure =>
  new CallFailure('transient', `The answer to ${what} is none that Vercel gives`, null, false);

/** An answer that was no success, as it came over the wire. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly header: (name: string) => string | null;
}

/**
 * Classifies a refusal by Vercel's code and the HTTP status.
 * @param secrets texts that must not get into the message
 * @param now milliseconds since 1970, to reckon how long a wait is
 */
export function refusalOf(
  { status, body, header }: Refusal,
  secrets: readonly string[],
  now = Date.now(),
): CallFailure {
  const words = messageOf(body);
  const { kind, settled } = verdictOn(status, words?.code ?? null);
  const text = words
    ? `${words.code}: ${words.message}`
    : `The answer, HTTP ${status}, is none that Vercel gives`;
  const wait = kind === 'throttled' || kind === 'transient' ? waitOf(body, header, now) : null;
  return new CallFailure(kind, withoutSecrets(text, secrets), words?.code ?? null, settled, wait);
}

/** Classifies what `fetch`, or the reading of its answer, threw. */
export function toFailure(error: unknown, secrets: readonly string[]): CallFailure {
  if (error instanceof CallFailure) return error;
  const given = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly message?: string;
    readonly cause?: { readonly code?: string };
  };
  const code = given.cause?.code ?? '';
  const words = withoutSecrets(`No answer from Vercel: ${code || (given.message ?? String(error))}`, secrets);
  return new CallFailure('transient', words, null, NEVER_SENT.has(code));
}

function verdictOn(status: number, code: string | null): { kind: DriverErrorKind; settled: boolean } {
  if (status === 429) return { kind: 'throttled', settled: true };
  // A page of some gateway on the way: whether Vercel saw the request is anybody's guess.
  if (code === null || status < 400 || status >= 500 || status === 408)
    return { kind: 'transient', settled: false };
  const known = KIND_OF.get(code);
  if (known) return { kind: known, settled: known !== 'transient' };
  if (LIMIT.test(code)) return { kind: 'quota', settled: true };
  return { kind: KIND_OF_STATUS.get(status) ?? 'invalid', settled: true };
}

/** `{error: {code, message}}`; null when the body is no error of Vercel's. */
export function messageOf(body: unknown): { code: string; message: string } | null {
  const error = isRecord(body) ? body['error'] : null;
  if (!isRecord(error) || typeof error['code'] !== 'string' || error['code'] === '') return null;
  return { code: error['code'], message: typeof error['message'] === 'string' ? error['message'] : '' };
}

/** In milliseconds: `Retry-After`, `error.limit.resetMs`, or `X-RateLimit-Reset`, whichever is there. */
function waitOf(body: unknown, header: Refusal['header'], now: number): number | null {
  const error = isRecord(body) ? body['error'] : null;
  const limit = isRecord(error) && isRecord(error['limit']) ? error['limit'] : {};
  const candidates = [
    readRetryAfter(header('retry-after'), now),
    epochMs(limit['resetMs']) ?? epochMs(limit['reset'], 1000),
    epochMs(header('x-ratelimit-reset'), 1000),
  ];
  const [first, ...others] = candidates.map((moment, index) =>
    moment === null || index === 0 ? moment : moment - now,
  );
  const wait = first ?? others.find((candidate) => candidate !== null) ?? null;
  return wait === null ? null : Math.min(MAX_WAIT_MS, Math.max(0, wait));
}

function epochMs(value: unknown, factor = 1): number | null {
  const moment = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof moment === 'number' && Number.isFinite(moment) ? moment * factor : null;
}
