import type { DriverErrorKind } from '#rules';
import type { CallFailure } from '../call-failure';
import { lateRefusal, refusalOf, toFailure } from './azure-errors';

const body = (code: string, details: readonly string[] = []): unknown => ({
  error: {
    code,
    message: 'Azure error message',
    details: details.map((detail) => ({ code: detail, message: '' })),
  },
});
const oauth = (error: string): unknown => ({
  error,
  error_description: 'AADSTS7000215: Azure error message\r\nTrace ID: 1\r\nTimestamp: 2',
});

const refusal = (status: number, answer: unknown): CallFailure =>
  refusalOf({ status, body: answer, header: () => null }, []);

describe('Classification of Azure errors', () => {
  const settled: [status: number, code: string, kind: DriverErrorKind][] = [
    [429, 'TooManyRequests', 'throttled'],
    [429, 'SubscriptionRequestsThrottled', 'throttled'],
    [429, 'SomethingNewAboutRates', 'throttled'],
    [429, 'RetryableError', 'conflict'],
    [409, 'AnotherOperationInProgress', 'conflict'],
    [409, 'SomethingNewAboutStates', 'conflict'],
    [412, 'PreconditionFailed', 'conflict'],
    [400, 'SecurityRuleConflict', 'conflict'],
    [401, 'InvalidAuthenticationToken', 'denied'],
    [401, 'ExpiredAuthenticationToken', 'transient'],
    [403, 'AuthorizationFailed', 'denied'],
    [403, 'LinkedAuthorizationFailed', 'denied'],
    [403, 'RequestDisallowedByPolicy', 'denied'],
    [409, 'ScopeLocked', 'denied'],
    [409, 'ReadOnlyDisabledSubscription', 'denied'],
    [403, 'SomethingNewAboutAccess', 'denied'],
    [404, 'ResourceNotFound', 'target-missing'],
    [404, 'ResourceGroupNotFound', 'target-missing'],
    [404, 'SubscriptionNotFound', 'target-missing'],
    [400, 'SecurityRuleCountLimitReached', 'quota'],
    [400, 'SomethingLimitExceeded', 'quota'],
    [400, 'SecurityRuleInvalidAddressPrefix', 'invalid'],
    [400, 'SecurityRuleInvalidPortRange', 'invalid'],
    [400, 'InvalidRequestFormat', 'invalid'],
  ];

  it.each(settled)('classifies HTTP %i %s as %s, without effect', (status, code, kind) => {
    const failure = refusal(status, body(code));
    expect(failure).toMatchObject({ kind, code, settled: true, message: `${code}: Azure error message` });
    expect(failure.changeResult).toEqual({ result: 'refused', kind, message: failure.message });
  });

  it.each([
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailable'],
    [504, 'GatewayTimeout'],
    [500, 'SomethingNew'],
    [408, 'SomethingSlow'],
  ])('classifies HTTP %i %s as transient with unknown outcome', (status, code) => {
    const failure = refusal(status, body(code));
    expect(failure).toMatchObject({ kind: 'transient', code, settled: false });
    expect(failure.changeResult).toEqual({ result: 'unknown', message: failure.message });
  });

  it('prefers the more specific codes in the details', () => {
    const failure = refusal(429, body('Busy', ['RetryableErrorDueToAnotherOperation']));
    expect(failure.kind).toBe('conflict');
  });

  it.each([
    ['an HTML page', 502, undefined],
    ['an HTML page with a client error', 403, undefined],
    ['an HTML 404 page', 404, undefined],
    ['a redirect', 302, undefined],
    ['an empty object', 400, {}],
    ['an error without a code', 400, { error: { message: 'no code' } }],
    ['a list', 403, []],
    ['null', 403, null],
    ['an error in a success', 200, { error: {} }],
  ])('treats %s as an unexpected response with unknown outcome', (_, status, answer) => {
    expect(refusal(status, answer)).toMatchObject({
      kind: 'transient',
      code: null,
      settled: false,
      message: `Unexpected HTTP ${status} response from Azure`,
    });
  });

  it.each([
    [401, 'invalid_client', 'denied'],
    [400, 'unauthorized_client', 'denied'],
    [400, 'invalid_request', 'denied'],
    [503, 'temporarily_unavailable', 'transient'],
    [429, 'temporarily_unavailable', 'throttled'],
  ])('classifies HTTP %i %s of the token endpoint as %s, with a one-line message', (status, error, kind) => {
    expect(refusal(status, oauth(error))).toMatchObject({
      kind,
      message: `${error}: AADSTS7000215: Azure error message`,
    });
  });

  it.each([
    ['SecurityRuleCountLimitReached', 'quota'],
    ['RetryableError', 'conflict'],
    ['InternalServerError', 'transient'],
    ['SomethingNew', 'transient'],
  ])('classifies an operation that failed with %s as %s, without effect', (code, kind) => {
    expect(lateRefusal(body(code), [])).toMatchObject({ kind, code, settled: true });
  });

  it('classifies an operation that failed without an error as transient, without effect', () => {
    expect(lateRefusal({ status: 'Failed' }, [])).toMatchObject({
      kind: 'transient',
      code: null,
      settled: true,
    });
  });

  it('classifies an error of the SDK like the response in it, with the delay that Azure requests', () => {
    const headers = new Map([['retry-after', '3']]);
    const bodyAsText = JSON.stringify(body('TooManyRequests'));
    const error = Object.assign(new Error('no'), { response: { status: 429, bodyAsText, headers } });
    expect(toFailure(error, [])).toMatchObject({ kind: 'throttled', settled: true, retryAfterMs: 3000 });
  });

  it('masks secrets in the message', () => {
    const { message } = refusalOf({ status: 401, body: oauth('my s3cret'), header: () => null }, [
      's3cret',
      '',
    ]);
    expect(message).toBe('my [secret]: AADSTS7000215: Azure error message');
  });
});
