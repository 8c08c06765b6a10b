import type { ServerMetadata } from 'openid-client';
import type { IssuerClients, IssuerRegistration } from './issuer-client';
import { issuerFailureOf } from './issuer-failure';

/** One thing that sign-ins need of an issuer, for its administrator. */
export interface IssuerCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

/** Reads what the issuer publishes at this moment, and what it lacks for sign-ins. */
export async function checkIssuer(
  clients: IssuerClients,
  registration: IssuerRegistration,
): Promise<IssuerCheck[]> {
  try {
    const { metadata, keys } = await clients.published(registration);
    return [
      { name: 'discovery', ok: true, message: 'Its discovery document is readable, and names this issuer' },
      { name: 'keys', ok: keys > 0, message: `Keys for signatures: ${keys}` },
      ...checksOf(metadata, registration),
    ];
  } catch (error) {
    return [
      {
        name: 'discovery',
        ok: false,
        message: `The issuer cannot be used: ${issuerFailureOf(error).message}`,
      },
    ];
  }
}

function checksOf(metadata: ServerMetadata, { groupsClaim }: IssuerRegistration): IssuerCheck[] {
  const {
    response_types_supported: responseTypes,
    code_challenge_methods_supported: challenges,
    grant_types_supported: grants,
    scopes_supported: scopes,
    claims_supported: claims,
  } = metadata;
  const takesCode = responseTypes?.includes('code') ?? true;
  const takesChallenge = challenges?.includes('S256') ?? true;
  const refreshes = scopes?.includes('offline_access') || grants?.includes('refresh_token');
  const groups =
    groupsClaim === null || (claims ?? []).some((name) => `${groupsClaim}.`.startsWith(`${name}.`));
  return [
    {
      name: 'authorizationCode',
      ok: takesCode,
      message: takesCode ? 'It answers with authorization codes' : 'It answers with no authorization codes',
    },
    {
      name: 'pkce',
      ok: takesChallenge,
      message: challenges
        ? `It names the challenge methods ${challenges.join(', ')}; S256 is needed`
        : 'It names no challenge methods; S256 is sent',
    },
    // these two are told, and no sign-in fails for them
    {
      name: 'refreshTokens',
      ok: true,
      message: refreshes
        ? 'It gives refresh tokens: whoever leaves is out within 15 minutes'
        : 'It does not say that it gives refresh tokens: without them people sign in again every 8 hours',
    },
    {
      name: 'groups',
      ok: true,
      message:
        groupsClaim === null
          ? 'Groups are not used'
          : groups
            ? 'It names the claim of groups'
            : 'It does not name the claim of groups: look at the roles of its people after a sign-in',
    },
  ];
}
