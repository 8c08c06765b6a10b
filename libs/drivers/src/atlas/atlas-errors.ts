import type { DriverErrorKind } from '#rules';
import {
  CallFailure,
  kindsByCode,
  TokenRefused,
  unexpectedResponse as unexpected,
  withoutSecrets,
} from '../call-failure';
import type { Refusal } from '../request-json';
import { readRetryAfter } from '../retry-after';
import { isRecord } from '../untrusted-json';

/** Error codes that say more than the HTTP status. Atlas documents no complete list. */
const KIND_OF = kindsByCode({
  throttled: ['RATE_LIMITED'],
  quota: ['ATLAS_NETWORK_PERMISSION_LIMIT_EXCEEDED', 'MAX_NETWORK_PERMISSION_ENTRIES_EXCEEDED'],
  'target-missing': ['GROUP_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
});
const KIND_OF_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [402, 'quota'],
  [403, 'denied'],
  [404, 'target-missing'],
  [409, 'conflict'],
  [410, 'target-missing'],
]);
const LIMIT = /LIMIT|QUOTA|MAX_|EXCEEDED|TOO_MANY/;
const DUPLICATE = /DUPLICATE|ALREADY_EXISTS/;

export const unexpectedResponse = (operation: string): CallFailure => unexpected('Atlas', operation);

/** Whether an entry was refused because it is on the list. */
export const isDuplicate = ({ code }: CallFailure): boolean => DUPLICATE.test(code ?? '');

/** Classifies an unsuccessful response of the API or the token endpoint. @param secrets masked in the message */
export function refusalOf({ status, body, header }: Refusal, secrets: readonly string[]): CallFailure {
  const error = errorOf(body);
  const text = error ? `${error.code}: ${error.message}` : `Unexpected HTTP ${status} response from Atlas`;
  const message = withoutSecrets(text, secrets);
  const code = error?.code ?? null;
  const retryAfterMs = readRetryAfter(header('retry-after'));
  if (status === 429) return new CallFailure('throttled', message, code, true, retryAfterMs);
  // of a gateway in between, or of a failure in which Atlas may have done it
  if (code === null || status < 400 || status >= 500 || status === 408)
    return new CallFailure('transient', message, code, false, retryAfterMs);
  if (status === 401) return new TokenRefused('denied', message, code);
  const kind = KIND_OF.get(code) ?? KIND_OF_STATUS.get(status) ?? (LIMIT.test(code) ? 'quota' : 'invalid');
  return new CallFailure(kind, message, code, true, kind === 'throttled' ? retryAfterMs : null);
}

export const isError = (body: unknown): boolean => errorOf(body) !== null;

/** `{errorCode, detail}` of the API, `{error, error_description}` of the token endpoint. */
function errorOf(body: unknown): { code: string; message: string } | null {
  if (!isRecord(body)) return null;
  const code = body['errorCode'] ?? body['error'];
  const message = body['detail'] ?? body['error_description'];
  if (typeof code !== 'string' || code === '') return null;
  return { code, message: typeof message === 'string' ? message : '' };
}
