/**
 * What a token endpoint's refusal of a refresh token means. `refused`: the issuer no longer vouches for the person.
 * `session-over`: its own session with the person is, and signing in again begins another. `used-before`: the token was used up,
 * which says nothing about the person.
 */
export type RefusalMeaning = 'refused' | 'session-over' | 'used-before';

/** Of OpenID Connect: what the person alone can settle, by signing in. */
const SESSION_OVER_ERRORS = ['interaction_required', 'login_required', 'consent_required'];

/**
 * `suberror` of Entra ID, `error_subtype` of Google: what the person settles by signing in. Entra ID has `bad_token` for deleted
 * people and revoked tokens, too, and `message_only` for those whom a policy keeps out.
 */
const SESSION_OVER_SUBERRORS = [
  'token_expired',
  'basic_action',
  'additional_action',
  'consent_required',
  'interaction_required',
  'user_password_expired',
  'invalid_rapt',
];

/** `error_codes` of Entra ID for refresh tokens that have run out: sign-in frequency, inactivity, or their lifetime. */
const SESSION_OVER_CODES = [70008, 70043, 700082, 700084];

const SESSION_OVER_DESCRIPTIONS = [
  // Keycloak
  'Session not active',
  'Offline session not active',
  "Session doesn't have required client",
  'Token is not active',
  // Zitadel, which names people who are not active
  'Errors.OIDCSession.RefreshTokenInvalid',
  'Errors.User.RefreshToken.Invalid',
];
/** AD FS */
const EXPIRED_AT_AD_FS = /^MSIS9615\b/;

/** Keycloak */
const USED_BEFORE = 'Maximum allowed refresh token reuse exceeded';
/** Zitadel */
const NOT_ACTIVE = 'Errors.User.NotActive';

/** @param body of the answer @returns null: it is about the request, and says nothing about the person */
export function refusalMeaning(body: Readonly<Record<string, unknown>>): RefusalMeaning | null {
  const { error, error_description: description, error_codes: codes } = body;
  if (SESSION_OVER_ERRORS.includes(String(error))) return 'session-over';
  // Zitadel answers invalid_request
  if (error !== 'invalid_grant' && error !== 'invalid_request') return null;
  const text = typeof description === 'string' ? description.trim() : '';
  if (text === USED_BEFORE) return 'used-before';
  const isOver =
    SESSION_OVER_DESCRIPTIONS.includes(text) ||
    EXPIRED_AT_AD_FS.test(text) ||
    [body['suberror'], body['error_subtype']].some((name) => SESSION_OVER_SUBERRORS.includes(String(name))) ||
    (Array.isArray(codes) && codes.some((code) => SESSION_OVER_CODES.includes(Number(code))));
  if (isOver) return 'session-over';
  return error === 'invalid_grant' || text === NOT_ACTIVE ? 'refused' : null;
}
