import type { DriverErrorKind } from '#rules';
import { lateRefusal, refusalOf, toFailure } from './azure-errors';

const body = (code: string, details: readonly string[] = []): unknown => ({
  error: {
    code,
    message: 'words of Azure',
    details: details.map((detail) => ({ code: detail, message: '' })),
  },
});
const oauth = (error: string): unknown => ({
  error,
  error_description: 'AADSTS7000215: words of Azure\r\nTrace ID: 1\r\nTimestamp: 2',
});

describe('errors of Azure', () => {
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

  it.each(settled)('HTTP %i %s is %s, and nothing was done', (status, code, kind) => {
    const failure = refusalOf({ status, body: body(code) }, []);
    expect(failure).toMatchObject({ kind, code, settled: true, message: `${code}: words of Azure` });
    expect(failure.changeResult).toEqual({ result: 'refused', kind, message: failure.message });
  });

  it.each([
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailable'],
    [504, 'GatewayTimeout'],
    [500, 'SomethingNew'],
    [408, 'SomethingSlow'],
  ])('HTTP %i %s may have been done', (status, code) => {
    const failure = refusalOf({ status, body: body(code) }, []);
    expect(failure).toMatchObject({ kind: 'transient', code, settled: false });
    expect(failure.changeResult).toEqual({ result: 'unknown', message: failure.message });
  });

  it('finds in the details what the code does not say', () => {
    const failure = refusalOf(
      { status: 429, body: body('Busy', ['RetryableErrorDueToAnotherOperation']) },
      [],
    );
    expect(failure.kind).toBe('conflict');
  });

  it.each([
    ['an HTML page', 502, undefined],
    ['an HTML page with a client error', 403, undefined],
    ['a page that is missing', 404, undefined],
    ['a redirect', 302, undefined],
    ['an empty object', 400, {}],
    ['an error without a code', 400, { error: { message: 'no code' } }],
    ['a list', 403, []],
    ['null', 403, null],
    ['an error in a success', 200, { error: {} }],
  ])('%s tells nothing', (_, status, answer) => {
    expect(refusalOf({ status, body: answer }, [])).toMatchObject({
      kind: 'transient',
      code: null,
      settled: false,
      message: `The answer, HTTP ${status}, is none that Azure gives`,
    });
  });

  it.each([
    [401, 'invalid_client', 'denied'],
    [400, 'unauthorized_client', 'denied'],
    [400, 'invalid_request', 'denied'],
    [503, 'temporarily_unavailable', 'transient'],
    [429, 'temporarily_unavailable', 'throttled'],
  ])('HTTP %i %s of the token endpoint is %s, told in one line', (status, error, kind) => {
    expect(refusalOf({ status, body: oauth(error) }, [])).toMatchObject({
      kind,
      message: `${error}: AADSTS7000215: words of Azure`,
    });
  });

  it.each([
    ['SecurityRuleCountLimitReached', 'quota'],
    ['RetryableError', 'conflict'],
    ['InternalServerError', 'transient'],
    ['SomethingNew', 'transient'],
  ])('an operation that ended with %s is %s, and surely not done', (code, kind) => {
    expect(lateRefusal(body(code), [])).toMatchObject({ kind, code, settled: true });
  });

  it('takes an operation that ended without a word for not done', () => {
    expect(lateRefusal({ status: 'Failed' }, [])).toMatchObject({
      kind: 'transient',
      code: null,
      settled: true,
    });
  });

  it.each([
    ['3', 3000],
    ['nonsense', null],
    ['', null],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('reads Retry-After: %s', (retryAfter, milliseconds) => {
    expect(refusalOf({ status: 429, body: body('TooManyRequests'), retryAfter }, []).retryAfterMs).toBe(
      milliseconds,
    );
  });

  it.each([
    ['ECONNREFUSED', true],
    ['ENOTFOUND', true],
    ['EAI_AGAIN', true],
    ['ECONNRESET', false],
    ['EPIPE', false],
  ])('%s, of the SDK or of fetch: nothing was sent: %s', (code, neverSent) => {
    const words = { kind: 'transient', settled: neverSent, message: `No answer from Azure: ${code}` };
    expect(toFailure(Object.assign(new Error('failed'), { code }), [])).toMatchObject(words);
    expect(toFailure(new TypeError('fetch failed', { cause: { code } }), [])).toMatchObject(words);
  });

  it.each([[new Error('socket hang up')], ['a text'], [null], [undefined]])(
    'knows nothing of %p',
    (error) => {
      expect(toFailure(error, [])).toMatchObject({ kind: 'transient', code: null, settled: false });
    },
  );

  it('keeps secrets out of the message, also where the cut falls', () => {
    const secret = 'A-client-secret-of-some-length';
    const message = `${'x'.repeat(470)} ${secret} and ${secret}`;
    const failure = refusalOf({ status: 401, body: { error: { code: 'AuthenticationFailed', message } } }, [
      secret,
      '',
    ]);
    expect(failure.message).not.toContain(secret.slice(0, 10));
    expect(failure.message).toHaveLength(500);
  });
});
