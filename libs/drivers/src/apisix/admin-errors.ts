import type { DriverErrorKind } from '#rules';
import { CallFailure } from '../call-failure';
import { readRetryAfter } from '../retry-after';
import type { TenantAnswer } from '../tenant-url/pinned-connection';
import { isRecord, parseJson } from '../untrusted-json';

/**
 * No answer, or none of APISIX: one text for all of it, so that nobody reads from it what stands at an address.
 * @param settled as for CallFailure
 */
export const noProperAnswer = (settled: boolean): CallFailure =>
  new CallFailure(
    'transient',
    'No answer of an APISIX Admin API came from adminUrl: the name must resolve, the port be open to this service, the certificate be valid',
    null,
    settled,
  );

interface Refused {
  /** undefined: any */
  readonly status?: number;
  /** of the answer's `error_msg` or `message`; undefined: any, also an answer that has neither */
  readonly words?: RegExp;
  /** instead of `words`, for answers that nginx gives before APISIX is asked */
  readonly page?: RegExp;
  readonly kind: DriverErrorKind;
  readonly message: string;
}

const TOO_LONG = 'The list of addresses is too long for the gateway';
const KEY_REFUSED = 'The gateway refuses the admin key';

/** The first that fits counts. */
const REFUSALS: readonly Refused[] = [
  { status: 429, kind: 'throttled', message: 'The gateway takes no more calls for now' },
  { status: 413, kind: 'quota', message: TOO_LONG },
  { words: /request size|request is too large|^(?=.*body).*too large/is, kind: 'quota', message: TOO_LONG },
  {
    status: 503,
    words: /value changed before overwritten/i,
    kind: 'conflict',
    message: 'Somebody else changed the object at the same time',
  },
  { status: 401, words: /./, kind: 'denied', message: KEY_REFUSED },
  { status: 403, words: /./, kind: 'denied', message: KEY_REFUSED },
  {
    status: 403,
    page: /<center>(openresty|nginx|APISIX)/i,
    kind: 'denied',
    message: "The gateway's allow_admin does not let this service in",
  },
  {
    status: 404,
    words: /^Key not found$/i,
    kind: 'target-missing',
    message: 'The gateway has no such object',
  },
  {
    status: 400,
    words: /unknown plugin/i,
    kind: 'invalid',
    message: 'The plugin ip-restriction is not enabled in the gateway',
  },
  {
    status: 400,
    words: /matches both schemas/i,
    kind: 'invalid',
    message: 'The ip-restriction of the object has a blacklist, and a whitelist cannot stand beside it',
  },
  { status: 400, words: /./, kind: 'invalid', message: 'The gateway refuses the change as invalid' },
  { status: 405, words: /./, kind: 'invalid', message: 'The gateway does not offer this change' },
];

/** Classifies an answer that was no success. */
export function refusalOf({ status, headers, text }: TenantAnswer): CallFailure {
  const words = messageOf(text);
  const found = REFUSALS.find(
    (refusal) =>
      (refusal.status === undefined || refusal.status === status) &&
      (refusal.words === undefined || (words !== null && refusal.words.test(words))) &&
      (refusal.page === undefined || refusal.page.test(text)),
  );
  if (!found || status < 400) return noProperAnswer(false);
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  return new CallFailure(found.kind, found.message, null, true, retryAfterMs);
}

/** The Admin API says `{error_msg}`, or `{message}` in etcd's words. */
function messageOf(text: string): string | null {
  const body = parseJson(text);
  if (!isRecord(body)) return null;
  const words = body.error_msg ?? body.message;
  return typeof words === 'string' ? words : null;
}
