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
    ['refuses 7 characters', {}, '1234567', '8 to 128 characters'],
    ['accepts 128 characters', {}, 'x'.repeat(128), null],
    ['refuses 129 characters', {}, 'x'.repeat(129), '8 to 128 characters'],
    ['counts an emoji as one character', {}, '🔑'.repeat(7), '8 to 128 characters'],
    ['the organization’s own minimum', { passwordMinLength: 12 }, 'x'.repeat(11), '12 to 128 characters'],
    ['upper case in any script', { passwordRequireUppercase: true }, 'пАрольпароль', null],
    ['no upper case', { passwordRequireUppercase: true }, 'lowercase', 'an upper-case letter'],
    ['no lower case', { passwordRequireLowercase: true }, 'UPPERCASE', 'a lower-case letter'],
    ['no digit', { passwordRequireDigit: true }, 'no digits here', 'a digit'],
    ['a space is nothing special', { passwordRequireSpecialChar: true }, 'two words', 'a special character'],
    ['punctuation is', { passwordRequireSpecialChar: true }, 'one-word', null],
    ['all that is missing', { passwordRequireDigit: true }, 'short', '8 to 128 characters, a digit'],
  ])('%s', (_, policy, password, missing) => {
    const problem = passwordProblem(password, { ...LAX, ...policy });
    expect(problem).toBe(missing && `must have ${missing}`);
  });
});
