import type { CallFailure } from '../call-failure';
import type { JsonApi } from '../request-json';
import { GOOGLE, GOOGLE_TOKENS, operationFailure } from './gcp-errors';

const refusedBy =
  ({ refusalOf }: JsonApi) =>
  (status: number, body: unknown, retryAfter: string | null = null): CallFailure =>
    refusalOf({ status, body, header: () => retryAfter }, []);
const refusal = refusedBy(GOOGLE);
const tokenRefusal = refusedBy(GOOGLE_TOKENS);

const classic = (code: number, reason: string, message: string): unknown => ({
  error: { code, message, errors: [{ message, domain: 'global', reason }] },
});

/** Messages from Compute and its documentation. */
const REFUSALS: readonly [number, string, string, string][] = [
  [403, 'rateLimitExceeded', "Quota exceeded for quota group 'MutateGroup'", 'throttled'],
  [403, 'userRateLimitExceeded', 'User Rate Limit Exceeded', 'throttled'],
  [429, 'rateLimitExceeded', 'Too many requests', 'throttled'],
  [403, 'quotaExceeded', "Quota 'FIREWALLS' exceeded.  Limit: 100.0 globally.", 'quota'],
  [403, 'forbidden', "Required 'compute.firewalls.create' permission for 'projects/p'", 'denied'],
  [403, 'accessNotConfigured', 'Compute Engine API has not been used in project 1 before', 'denied'],
  [403, 'billingNotEnabled', 'Billing is disabled', 'denied'],
  [401, 'authError', 'Request had invalid authentication credentials.', 'denied'],
  [401, 'required', 'Login Required.', 'denied'],
  [404, 'notFound', "The resource 'projects/p/global/networks/n' was not found", 'target-missing'],
  [409, 'alreadyExists', "The resource 'projects/p/global/firewalls/f' already exists", 'conflict'],
  [400, 'resourceNotReady', "The resource 'projects/p/global/firewalls/f' is not ready", 'conflict'],
  [412, 'conditionNotMet', 'Precondition failed', 'conflict'],
  [400, 'resourceInUseByAnotherResource', 'in use', 'conflict'],
  [400, 'invalid', "Invalid value for field 'resource.sourceRanges[0]'", 'invalid'],
  [400, 'badRequest', 'Invalid JSON payload received.', 'invalid'],
  [500, 'backendError', 'Internal error', 'transient'],
  [503, 'backendError', 'Try again', 'transient'],
  // unknown reasons
  [403, 'aNewReason', 'no', 'denied'],
  [404, 'aNewReason', 'gone', 'target-missing'],
  [409, 'aNewReason', 'at odds', 'conflict'],
  [400, 'aNewReason', 'wrong', 'invalid'],
  [502, 'aNewReason', 'broken', 'transient'],
];

describe('Classification of Google errors', () => {
  it.each(REFUSALS)('classifies HTTP %i with reason %s (%s) as %s', (status, reason, message, kind) => {
    const failure = refusal(status, classic(status, reason, message));
    expect(failure).toMatchObject({
      kind,
      code: reason,
      message: `${reason}: ${message}`,
      settled: status < 500,
      retryAfterMs: null,
    });
  });

  it('parses the newer format with the reason in the details', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED' }];
    const error = { code: 403, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details };
    expect(refusal(403, { error }, '7')).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 });
    const denied = { error: { code: 403, message: 'no', status: 'PERMISSION_DENIED' } };
    expect(refusal(403, denied).kind).toBe('denied');
  });

  it.each([
    ['an HTML page', undefined],
    ['an empty object', {}],
    ['a list', []],
    ['an error that is text', { error: 'no' }],
  ])('treats an unsuccessful response with %s as unexpected', (_, body) => {
    for (const status of [403, 404, 409, 502]) {
      expect(refusal(status, body)).toMatchObject({ kind: 'transient', settled: false });
    }
    expect(refusal(429, body, '3')).toMatchObject({
      kind: 'throttled',
      settled: true,
      retryAfterMs: 3000,
    });
  });

  it.each([
    ['QUOTA_EXCEEDED', 403, 'quota'],
    ['RESOURCE_NOT_FOUND', 404, 'target-missing'],
    ['RESOURCE_NOT_READY', 400, 'conflict'],
    ['PERMISSIONS_ERROR', 403, 'denied'],
    ['INVALID_FIELD_VALUE', 400, 'invalid'],
    ['INTERNAL_ERROR', 500, 'transient'],
    ['RATE_LIMIT_EXCEEDED', 403, 'throttled'],
    ['A_NEW_CODE', 403, 'denied'],
    ['A_NEW_CODE', 500, 'transient'],
  ])('classifies an operation that failed with %s (HTTP %i) as %s', (code, status, kind) => {
    const failure = operationFailure([{ code, message: 'words' }], status);
    expect(failure).toMatchObject({ kind, message: `${code}: words`, settled: true });
    expect(failure.changeResult.result).toBe('refused');
  });

  it.each([
    [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 'denied'],
    [400, { error: 'invalid_grant', error_description: 'Invalid grant: account not found' }, 'denied'],
    [401, { error: 'invalid_client', error_description: 'Unauthorized' }, 'denied'],
    [
      400,
      { error: 'invalid_grant', error_description: 'Token must be in a reasonable timeframe.' },
      'transient',
    ],
    [429, { error: 'rate_limit_exceeded', error_description: 'slow down' }, 'throttled'],
    [500, { error: 'internal_failure' }, 'transient'],
    [403, undefined, 'transient'],
    [400, { error: { message: 'of another form' } }, 'transient'],
    [
      400,
      { error: 'invalid_grant', error_description: "Error connecting to the given credential's issuer." },
      'transient',
    ],
  ])('classifies HTTP %i %j of the token endpoint as %s', (status, body, kind) => {
    expect(tokenRefusal(status, body).kind).toBe(kind);
  });
});
