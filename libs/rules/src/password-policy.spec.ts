import { passwordProblem, type PasswordPolicy } from './password-policy';

const LAX: PasswordPolicy = {
  passwordMinLength: 8,
  passwordRequireUppercase: false,
  passwordRequireLowercase: false,
  passwordRequireDigit: false,
  passwordRequireSpecialChar: false,
};

describe('passwordProblem', () => {
  it.each([
    ['accepts 8 characters', {}, '12345678', null],
    ['refuses 7 characters', {}, '1234567', 'must have 8 to 128 characters'],
    ['accepts 128 characters', {}, 'x'.repeat(128), null],
    ['refuses 129 characters', {}, 'x'.repeat(129), 'must have 8 to 128 characters'],
    ['counts an emoji as one character', {}, '🔑'.repeat(7), 'must have 8 to 128 characters'],
    [
      'the organization’s own minimum',
      { passwordMinLength: 12 },
      'x'.repeat(11),
      'must have 12 to 128 characters',
    ],
    ['upper case in any script', { passwordRequireUppercase: true }, 'пАрольпароль', null],
    ['no upper case', { passwordRequireUppercase: true }, 'lowercase', 'must have an upper-case letter'],
    ['no lower case', { passwordRequireLowercase: true }, 'UPPERCASE', 'must have a lower-case letter'],
    ['no digit', { passwordRequireDigit: true }, 'no digits here', 'must have a digit'],
    [
      'a space is nothing special',
      { passwordRequireSpecialChar: true },
      'two words',
      'must have a special character',
    ],
    ['punctuation is', { passwordRequireSpecialChar: true }, 'one-word', null],
    [
      'all that is missing at once',
      { passwordRequireUppercase: true, passwordRequireDigit: true },
      'short',
      'must have 8 to 128 characters, an upper-case letter, a digit',
    ],
  ])('%s', (_, policy, password, problem) => {
    expect(passwordProblem(password, { ...LAX, ...policy })).toBe(problem);
  });
});
