import type { DriverErrorKind } from '#rules';
import type { Refusal } from '../request-json';
import { refusalOf } from './vercel-errors';

const NOW = 1_800_000_000_000;
const refusal = (
  status: number,
  error: unknown,
  headers: Readonly<Record<string, string>> = {},
): Refusal => ({ status, body: { error }, header: (name) => headers[name] ?? null });
const coded = (status: number, code: string): Refusal =>
  refusal(status, { code, message: 'Vercel error message' });

describe('Classification of Vercel errors', () => {
  const settled: [status: number, code: string, kind: DriverErrorKind][] = [
    [429, 'rate_limited', 'throttled'],
    [429, 'something_new_about_rates', 'throttled'],
    [400, 'rate_limited', 'throttled'],
    [401, 'unauthorized', 'denied'],
    [403, 'forbidden', 'denied'],
    [403, 'not_authorized', 'denied'],
    [403, 'something_new_about_access', 'denied'],
    [402, 'payment_required', 'quota'],
    [402, 'something_new_about_money', 'quota'],
    [403, 'plan_limit_exceeded', 'quota'],
    [400, 'limit_exceeded', 'quota'],
    [400, 'too_many_rules', 'quota'],
    [413, 'request_entity_too_large', 'quota'],
    [413, 'something_new_about_size', 'quota'],
    [404, 'not_found', 'target-missing'],
    [404, 'something_new_about_names', 'target-missing'],
    [410, 'gone', 'target-missing'],
    [409, 'conflict', 'conflict'],
    [409, 'something_new_about_states', 'conflict'],
    [412, 'precondition_failed', 'conflict'],
    [400, 'bad_request', 'invalid'],
    [400, 'invalid_ip_address', 'invalid'],
    [422, 'unprocessable_entity', 'invalid'],
  ];

  it.each(settled)('classifies HTTP %i %s as %s, without effect', (status, code, kind) => {
    const failure = refusalOf(coded(status, code), []);
    expect(failure).toMatchObject({ kind, code, settled: true, message: `${code}: Vercel error message` });
    expect(failure.changeResult).toEqual({ result: 'refused', kind, message: failure.message });
    expect(failure.unsent.changeResult).toEqual({
      result: 'refused',
      kind,
      message: `Not sent: ${failure.message}`,
    });
  });

  it.each([
    [500, 'internal_server_error'],
    [502, 'bad_gateway'],
    [503, 'service_unavailable'],
    [504, 'forbidden'],
    [500, 'something_new'],
    [408, 'request_timeout'],
    [308, 'permanent_redirect'],
  ])('classifies HTTP %i %s as transient with unknown outcome', (status, code) => {
    const failure = refusalOf(coded(status, code), []);
    expect(failure).toMatchObject({ kind: 'transient', settled: false });
    expect(failure.changeResult).toEqual({ result: 'unknown', message: failure.message });
  });

  it.each([
    [400, undefined],
    [401, '<html>Sign in</html>'],
    [403, { error: 'Forbidden' }],
    [404, { message: 'Not Found' }],
    [404, { error: { code: '' } }],
    [404, []],
    [503, null],
  ])(
    'classifies HTTP %i with a body that is not from Vercel, %j, as transient with unknown outcome',
    (status, body) => {
      const failure = refusalOf({ status, body, header: () => null }, []);
      expect(failure).toMatchObject({ kind: 'transient', settled: false });
      expect(failure.message).toBe(`Unexpected HTTP ${status} response from Vercel`);
    },
  );

  it('classifies HTTP 429 as throttled even if a proxy sent it', () => {
    const failure = refusalOf({ status: 429, body: '<html>', header: () => null }, []);
    expect(failure).toMatchObject({ kind: 'throttled', settled: true, retryAfterMs: null });
  });

  it.each([
    ['Retry-After in seconds', {}, { 'retry-after': '7', 'x-ratelimit-reset': '1800000099' }, 7000],
    ['Retry-After as a date', {}, { 'retry-after': new Date(NOW + 9000).toUTCString() }, 9000],
    ['a date in the past', {}, { 'retry-after': new Date(NOW - 9000).toUTCString() }, 0],
    ['error.limit.resetMs', { limit: { resetMs: NOW + 1500, reset: 1_800_000_099 } }, {}, 1500],
    ['error.limit.reset', { limit: { reset: 1_800_000_003 } }, { 'x-ratelimit-reset': '1800000099' }, 3000],
    ['X-RateLimit-Reset', {}, { 'x-ratelimit-reset': '1800000004' }, 4000],
    ['nothing', {}, {}, null],
    ['invalid values', { limit: { reset: 'soon' } }, { 'retry-after': 'later' }, null],
    ['a very long delay, which is limited', {}, { 'retry-after': '999999999' }, 3_600_000],
  ])('reads the retry delay from %s', (_, more, headers, wait) => {
    const limited = refusal(429, { code: 'rate_limited', message: '', ...more }, headers);
    expect(refusalOf(limited, [], NOW).retryAfterMs).toBe(wait);
    const denied = refusal(403, { code: 'forbidden', message: '', ...more }, headers);
    expect(refusalOf(denied, [], NOW).retryAfterMs).toBeNull();
  });
});
