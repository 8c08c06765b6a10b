import type { ServerMetadata } from 'openid-client';
import type { IssuerRegistration } from './issuer-client';
import type { IssuerClients } from './issuer-clients';
import { demandsOn, type IssuerCheck } from './issuer-demands';
import { issuerFailureOf } from './issuer-failure';

/**
 * Reads what the issuer publishes at this moment, and tries how far a sign-in would come.
 * @param redirectUri that is to be registered there
 */
export async function checkIssuer(
  clients: IssuerClients,
  registration: IssuerRegistration,
  redirectUri: string,
): Promise<IssuerCheck[]> {
  try {
    const { metadata, keys, client } = await clients.readPublished(registration);
    const checks = [
      { name: 'discovery', ok: true, message: `it is ${metadata.issuer}, by its discovery document` },
      {
        name: 'keys',
        ok: keys > 0,
        message: `it publishes ${keys} ${keys === 1 ? 'key' : 'keys'} for signatures`,
      },
      ...demandsOn(metadata),
      ...hintsOf(metadata, registration),
    ];
    if (checks.every(({ ok }) => ok))
      checks.push(
        ...(await Promise.all([client.tryAuthorization(redirectUri), client.trySecret(redirectUri)])),
      );
    return checks.map(asSentence);
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

const asSentence = ({ message, ...check }: IssuerCheck): IssuerCheck => ({
  ...check,
  message: message.charAt(0).toUpperCase() + message.slice(1),
});

/** No sign-in fails for these. */
function hintsOf(metadata: ServerMetadata, { groupsClaim }: IssuerRegistration): IssuerCheck[] {
  const { grant_types_supported: grants, scopes_supported: scopes, claims_supported: claims } = metadata;
  const refreshes = scopes?.includes('offline_access') || grants?.includes('refresh_token');
  const groups =
    groupsClaim === null || (claims ?? []).some((name) => `${groupsClaim}.`.startsWith(`${name}.`));
  return [
    {
      name: 'refreshTokens',
      ok: true,
      message: refreshes
        ? 'it gives refresh tokens: people who leave are out within 15 minutes'
        : 'it does not say that it gives refresh tokens: without them people sign in again every 8 hours',
    },
    {
      name: 'groups',
      ok: true,
      message:
        groupsClaim === null
          ? 'groups are not used'
          : groups
            ? 'it names the claim of groups'
            : 'it does not name the claim of groups: look at the roles of its people after a sign-in',
    },
  ];
}
