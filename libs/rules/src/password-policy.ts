/** Password policy of an organization. */
export interface PasswordPolicy {
  readonly passwordMinLength: number;
  readonly passwordRequireUppercase: boolean;
  readonly passwordRequireLowercase: boolean;
  readonly passwordRequireDigit: boolean;
  readonly passwordRequireSpecialChar: boolean;
}

export const MAX_PASSWORD_LENGTH = 128;

/**
 * Why a password violates the policy, as a message to follow the field's name; null when it does not. Length is counted in
 * code points, not in bytes.
 */
export function passwordProblem(password: string, policy: PasswordPolicy): string | null {
  const { length } = Array.from(password.normalize('NFC'));
  const missing = [
    length < policy.passwordMinLength || length > MAX_PASSWORD_LENGTH
      ? `${policy.passwordMinLength} to ${MAX_PASSWORD_LENGTH} characters`
      : null,
    policy.passwordRequireUppercase && !/\p{Lu}/u.test(password) ? 'an upper-case letter' : null,
    policy.passwordRequireLowercase && !/\p{Ll}/u.test(password) ? 'a lower-case letter' : null,
    policy.passwordRequireDigit && !/\p{Nd}/u.test(password) ? 'a digit' : null,
    policy.passwordRequireSpecialChar && !/[^\p{L}\p{N}\s]/u.test(password) ? 'a special character' : null,
  ].filter((part) => part !== null);
  return missing.length === 0 ? null : `must have ${missing.join(', ')}`;
}
