import type { DriverErrorKind } from '#rules';
import { CallFailure } from '../call-failure';
import { readRetryAfter } from '../retry-after';
import type { TenantResponse } from '../tenant-url/pinned-connection';
import { isRecord, parseJson } from '../untrusted-json';

/**
 * The failure for a missing response and for a response that is not from APISIX: one message for all, so that it does
 * not reveal what listens at an address (SSRF).
 * @param settled see CallFailure
 */
export const invalidResponse = (settled: boolean): CallFailure =>
  new CallFailure(
    'transient',
    'No answer of an APISIX Admin API came from adminUrl: the name must resolve, the port be open to this service, the certificate be valid',
    null,
    settled,
  );

interface RefusalPattern {
  /** undefined: any */
  readonly status?: number;
  /** matches the response's `error_msg` or `message`; undefined: any, also a response without both */
  readonly errorMessage?: RegExp;
  /** instead of `errorMessage`, for responses of nginx before APISIX handles the request */
  readonly page?: RegExp;
  readonly kind: DriverErrorKind;
  readonly message: string;
  /** whether the reason that the gateway gives is appended */
  readonly withReason?: true;
}

const TOO_LONG = 'The list of addresses is too long for the gateway';
const KEY_REFUSED = 'The gateway refuses the admin key';

/** The first match applies. */
const REFUSALS: readonly RefusalPattern[] = [
  { status: 429, kind: 'throttled', message: 'The gateway takes no more calls for now' },
  { status: 413, kind: 'quota', message: TOO_LONG },
  {
    errorMessage: /request size|request is too large|^(?=.*body).*too large/is,
    kind: 'quota',
    message: TOO_LONG,
  },
  {
    status: 503,
    errorMessage: /value changed before overwritten/i,
    kind: 'conflict',
    message: 'Another client changed the object at the same time',
  },
  { status: 401, errorMessage: /./, kind: 'denied', message: KEY_REFUSED },
  { status: 403, errorMessage: /./, kind: 'denied', message: KEY_REFUSED },
  {
    status: 403,
    page: /<center>(openresty|nginx|APISIX)/i,
    kind: 'denied',
    message: "The gateway's allow_admin does not let this service in",
  },
  {
    status: 404,
    errorMessage: /^Key not found$/i,
    kind: 'target-missing',
    message: 'The gateway has no such object',
  },
  {
    status: 400,
    errorMessage: /unknown plugin/i,
    kind: 'invalid',
    message: 'The plugin ip-restriction is not enabled in the gateway',
  },
  {
    status: 400,
    errorMessage: /matches both schemas/i,
    kind: 'invalid',
    message: 'The ip-restriction of the object has a blacklist, and a whitelist cannot stand beside it',
  },
  {
    status: 400,
    errorMessage: /./,
    kind: 'invalid',
    message: 'The gateway refuses the change as invalid',
    withReason: true,
  },
  { status: 405, errorMessage: /./, kind: 'invalid', message: 'The gateway does not offer this change' },
];

/** Classifies an unsuccessful response. */
export function refusalOf({ status, headers, text }: TenantResponse): CallFailure {
  const errorMessage = messageOf(text);
  const found = REFUSALS.find(
    (refusal) =>
      (refusal.status === undefined || refusal.status === status) &&
      (refusal.errorMessage === undefined ||
        (errorMessage !== null && refusal.errorMessage.test(errorMessage))) &&
      (refusal.page === undefined || refusal.page.test(text)),
  );
  if (!found || status < 400) return invalidResponse(false);
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const reason = found.withReason ? reasonIn(errorMessage ?? '') : '';
  return new CallFailure(found.kind, `${found.message}${reason}`, null, true, retryAfterMs);
}

/** How APISIX begins the message about an object that does not fit its schema. */
const SCHEMA_MESSAGE = /^(?:failed to check the configuration of plugin |invalid configuration: )/;
const MAX_REASON_LENGTH = 200;

/** APISIX's own reason. Other texts are not shown: whatever listens at an address could be read that way (SSRF). */
function reasonIn(errorMessage: string): string {
  if (!SCHEMA_MESSAGE.test(errorMessage)) return '';
  return `: ${errorMessage.slice(0, MAX_REASON_LENGTH).replace(/[^\x20-\x7e]/g, ' ')}`;
}

/** Parses `{error_msg}` of the Admin API, or `{message}` of etcd. */
function messageOf(text: string): string | null {
  const body = parseJson(text);
  if (!isRecord(body)) return null;
  const message = body.error_msg ?? body.message;
  return typeof message === 'string' ? message : null;
}
