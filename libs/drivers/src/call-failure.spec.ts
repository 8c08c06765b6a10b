import { CallFailure, noResponse } from './call-failure';

describe('A call without a response', () => {
  it.each([
    ['ECONNREFUSED', true],
    ['ENOTFOUND', true],
    ['EAI_AGAIN', true],
    ['EGRESS_PROXY_FAILED', true],
    ['ECONNRESET', false],
    ['EPIPE', false],
  ])('that ended with %s: nothing was sent is %s', (code, neverSent) => {
    const expected = { kind: 'transient', settled: neverSent, message: `No response from Cloud: ${code}` };
    expect(noResponse('Cloud', Object.assign(new Error('failed'), { code }), [])).toMatchObject(expected);
    const error = new TypeError('fetch failed', { cause: { code } });
    expect(noResponse('Cloud', error, [])).toMatchObject(expected);
  });

  it.each([
    ['connect', true],
    ['getaddrinfo', true],
    ['read', false],
  ])('that timed out at %s: nothing was sent is %s', (syscall, neverSent) => {
    const error = Object.assign(new Error('timed out'), { code: 'ETIMEDOUT', syscall });
    expect(noResponse('Cloud', error, [])).toMatchObject({ kind: 'transient', settled: neverSent });
  });

  it.each([[new Error('socket hang up')], [new DOMException('timed out', 'TimeoutError')], ['text'], [null]])(
    'has an unknown outcome: %p',
    (error) => {
      expect(noResponse('Cloud', error, [])).toMatchObject({
        kind: 'transient',
        code: null,
        settled: false,
      });
    },
  );

  it('keeps a failure that is classified already', () => {
    const known = new CallFailure('denied', 'no', null, true);
    expect(noResponse('Cloud', known, [])).toBe(known);
  });

  it('masks secrets before it truncates the message', () => {
    const secret = 'A-client-secret-of-some-length';
    const error = new Error(`${'x'.repeat(460)} ${secret} and ${secret}`);
    const { message } = noResponse('Cloud', error, [secret, '']);
    expect(message).not.toContain(secret.slice(0, 10));
    expect(message).toHaveLength(500);
  });
});
