import type { DriverErrorKind } from '#rules';
import { CallFailure, kindsByCode, unexpectedResponse as unexpected, withoutSecrets } from '../call-failure';
import type { Refusal } from '../request-json';
import { readRetryAfter } from '../retry-after';
import { isRecord } from '../untrusted-json';

/** Vercel's error codes that say more than the HTTP status. Vercel does not document a complete list. */
const KIND_OF = kindsByCode({
  throttled: ['rate_limited', 'too_many_requests'],
  denied: ['forbidden', 'unauthorized', 'not_authorized', 'invalid_token'],
  quota: ['payment_required'],
  conflict: ['conflict'],
  transient: ['internal_server_error', 'service_unavailable'],
});
const KIND_OF_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'denied'],
  // a feature or limit of the plan
  [402, 'quota'],
  [403, 'denied'],
  [404, 'target-missing'],
  [409, 'conflict'],
  [410, 'target-missing'],
  [412, 'conflict'],
  [413, 'quota'],
]);
/** Limits of the plan have many different codes. */
const LIMIT = /limit|quota|plan_|upgrade|too_many|too_large/;
const MAX_RETRY_AFTER_MS = 3_600_000;

export const unexpectedResponse = (operation: string): CallFailure => unexpected('Vercel', operation);

/**
 * Classifies an unsuccessful response by Vercel's error code and the HTTP status.
 * @param secrets masked in the message
 * @param now milliseconds since 1970, to compute the retry delay
 */
export function refusalOf(
  { status, body, header }: Refusal,
  secrets: readonly string[],
  now = Date.now(),
): CallFailure {
  const error = messageOf(body);
  const { kind, settled } = verdictOn(status, error?.code ?? null);
  const text = error ? `${error.code}: ${error.message}` : `Unexpected HTTP ${status} response from Vercel`;
  const retryAfterMs = kind === 'throttled' || kind === 'transient' ? retryAfterOf(body, header, now) : null;
  return new CallFailure(kind, withoutSecrets(text, secrets), error?.code ?? null, settled, retryAfterMs);
}

function verdictOn(status: number, code: string | null): { kind: DriverErrorKind; settled: boolean } {
  if (status === 429) return { kind: 'throttled', settled: true };
  // The response of a gateway in between: it is unknown whether Vercel received the request.
  if (code === null || status < 400 || status >= 500 || status === 408)
    return { kind: 'transient', settled: false };
  const known = KIND_OF.get(code);
  if (known) return { kind: known, settled: known !== 'transient' };
  if (LIMIT.test(code)) return { kind: 'quota', settled: true };
  return { kind: KIND_OF_STATUS.get(status) ?? 'invalid', settled: true };
}

/** Parses `{error: {code, message}}`; null when the body is not an error of Vercel. */
export function messageOf(body: unknown): { code: string; message: string } | null {
  const error = isRecord(body) ? body['error'] : null;
  if (!isRecord(error) || typeof error['code'] !== 'string' || error['code'] === '') return null;
  return { code: error['code'], message: typeof error['message'] === 'string' ? error['message'] : '' };
}

/** The delay in milliseconds from `Retry-After`, `error.limit.resetMs` or `X-RateLimit-Reset`. */
function retryAfterOf(body: unknown, header: Refusal['header'], now: number): number | null {
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
  return wait === null ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, wait));
}

function epochMs(value: unknown, factor = 1): number | null {
  const moment = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof moment === 'number' && Number.isFinite(moment) ? moment * factor : null;
}
