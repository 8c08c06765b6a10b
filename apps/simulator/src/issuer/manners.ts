/** Why an issuer refuses a refresh token: its own session with the person is over, the person is disabled, it was used before. */
export const REFUSALS = ['session-over', 'disabled', 'used-before'] as const;
export type Refusal = (typeof REFUSALS)[number];

interface RefusalAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How an issuer refuses, and says who is in which groups. */
interface Manner {
  /** where a client finds the groups */
  readonly groupsClaim: string;
  readonly groups: (names: readonly string[]) => Readonly<Record<string, unknown>>;
  readonly refusals: Readonly<Record<Refusal, RefusalAnswer>>;
}

const invalidGrant = (description?: string, more: object = {}, status = 400): RefusalAnswer => ({
  status,
  body: {
    error: 'invalid_grant',
    ...(description !== undefined && { error_description: description }),
    ...more,
  },
});

const entra = (code: number, what: string, suberror?: string): RefusalAnswer =>
  invalidGrant(`AADSTS${code}: ${what}`, {
    error_codes: [code],
    ...(suberror !== undefined && { suberror }),
  });

const zitadel = (key: string): RefusalAnswer => ({
  status: 400,
  body: { error: 'invalid_request', error_description: key },
});

/** The same for all: the answer does not tell why. */
const undistinguished = (answer: RefusalAnswer): Manner['refusals'] => ({
  'session-over': answer,
  disabled: answer,
  'used-before': answer,
});

const inList = (names: readonly string[]) => ({ groups: [...names] });

/** From the issuers' public documentation, source code and public reports of what they answered. */
export const MANNERS = {
  'oidc-provider': {
    groupsClaim: 'groups',
    groups: inList,
    refusals: undistinguished(invalidGrant('grant request is invalid')),
  },
  // a used token stays valid; a revoked one is refused with the sub-error that deleted people have, too
  'entra-id': {
    groupsClaim: 'groups',
    groups: (names) => (names.length === 0 ? {} : names.length > 200 ? OVERAGE : inList(names)),
    refusals: {
      'session-over': entra(70043, 'The refresh token is older than a policy allows', 'token_expired'),
      disabled: entra(50057, 'The user account is disabled'),
      'used-before': entra(50173, 'The grant was revoked', 'bad_token'),
    },
  },
  okta: {
    groupsClaim: 'groups',
    groups: inList,
    refusals: undistinguished(invalidGrant('The refresh token is invalid or expired.')),
  },
  google: {
    groupsClaim: 'groups',
    groups: () => ({}),
    refusals: {
      ...undistinguished(invalidGrant('Token has been expired or revoked.')),
      'session-over': invalidGrant('reauth related error (invalid_rapt)', { error_subtype: 'invalid_rapt' }),
    },
  },
  keycloak: {
    groupsClaim: 'realm_access.roles',
    groups: (names) => ({ realm_access: { roles: [...names] } }),
    refusals: {
      'session-over': invalidGrant('Session not active'),
      disabled: invalidGrant('User disabled'),
      'used-before': invalidGrant('Maximum allowed refresh token reuse exceeded'),
    },
  },
  // the claims of its own applications have addresses as names
  auth0: {
    groupsClaim: 'https://drawbridge.example/groups',
    groups: (names) => ({ 'https://drawbridge.example/groups': [...names] }),
    refusals: {
      ...undistinguished(invalidGrant('Unknown or invalid refresh token.', {}, 403)),
      disabled: invalidGrant('user is blocked', {}, 403),
    },
  },
  zitadel: {
    groupsClaim: 'urn:zitadel:iam:org:project:roles',
    groups: (names) =>
      names.length === 0
        ? {}
        : {
            'urn:zitadel:iam:org:project:roles': Object.fromEntries(
              names.map((name) => [name, { 1: 'example' }]),
            ),
          },
    refusals: {
      ...undistinguished(zitadel('Errors.OIDCSession.RefreshTokenInvalid')),
      disabled: zitadel('Errors.User.NotActive'),
    },
  },
  authentik: {
    groupsClaim: 'groups',
    groups: inList,
    refusals: undistinguished(
      invalidGrant('The grant or refresh token is invalid, expired, revoked or of another client'),
    ),
  },
  // one group is a text; what it answers about disabled people is not documented
  'ad-fs': {
    groupsClaim: 'group',
    groups: ([first, ...others]) =>
      first === undefined ? {} : { group: others.length === 0 ? first : [first, ...others] },
    refusals: {
      ...undistinguished(invalidGrant()),
      'session-over': invalidGrant('MSIS9615: The refresh token has expired', {}, 401),
    },
  },
} as const satisfies Readonly<Record<string, Manner>>;

export type MannerName = keyof typeof MANNERS;
export const MANNER_NAMES = Object.keys(MANNERS) as MannerName[];

/** Of a person in more groups than fit a token. */
const OVERAGE = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.example' } },
};

/** Every claim that one of them has groups in. */
export const GROUP_CLAIMS = ['groups', 'realm_access', 'group', '_claim_names', '_claim_sources'].concat(
  MANNERS.auth0.groupsClaim,
  MANNERS.zitadel.groupsClaim,
);
