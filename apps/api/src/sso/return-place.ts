/** Where a sign-in may return to: a page of the console, or a port of the person's own machine. There is no other place. */
export const RETURN_PLACE =
  /^(?:console|code|102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/;

/** Why a sign-in ended, as the client sees it. The issuer's own words are not passed on. */
export const SIGN_IN_ERRORS = {
  denied: 'The identity provider ended the sign-in.',
  unreachable: 'The identity provider does not answer at the moment: try again later.',
  invalid:
    'The identity provider’s answer was not accepted: an administrator finds the reason in the audit logs.',
  over: 'This sign-in has ended, or was answered before: begin it again.',
  ended: 'Company sign-in was switched off meanwhile.',
  'not-linked':
    'No account belongs to this identity yet: an administrator links it, or invites its e-mail address, and then it works.',
  'not-active': 'The account is not active: an administrator can activate it.',
} as const;

export type SignInError = keyof typeof SIGN_IN_ERRORS;
