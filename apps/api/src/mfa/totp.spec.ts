import { TOTP } from 'otpauth';
import { newEnrolment, stepOf } from './totp';

describe('stepOf', () => {
  const { secret } = newEnrolment('a@example.com');
  const now = 1_700_000_000_000;
  const codeAt = (timestamp: number): string =>
    new TOTP({ secret, algorithm: 'SHA1' }).generate({ timestamp });

  it.each([
    ['the one before', -30_000, -1],
    ['the current one', 0, 0],
    ['the next one', 30_000, 1],
  ])('is the step of %s', (_, offsetMs, steps) => {
    expect(stepOf(codeAt(now + offsetMs), secret, now)).toBe(Math.floor(now / 30_000) + steps);
  });

  it('is null for the code of an earlier step', () => {
    expect(stepOf(codeAt(now - 60_000), secret, now)).toBeNull();
  });

  it.each(['', '12345', '1234567', '12345a', 'éééééé', '\u{D8152}\u{D8795}\u{F8D37}', '１２３４５６'])(
    'is null for %j, which no authenticator shows',
    (code) => {
      expect(stepOf(code, secret, now)).toBeNull();
    },
  );
});
