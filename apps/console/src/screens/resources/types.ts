import type { UseQueryResult } from '@tanstack/react-query';
import { $api, type Schemas } from '../../api';

export type ProviderTypes = Schemas['ProviderTypesDto'];
export type CredentialType = Schemas['CredentialTypeDto'];
export type ResourceType = Schemas['ResourceTypeDto'];

/** What each provider needs. All forms of this folder are drawn from it: a new provider appears by itself. */
export const useTypes = (): UseQueryResult<readonly ProviderTypes[], unknown> =>
  $api.useQuery(
    'get',
    '/api/v1/resources/types',
    {},
    { staleTime: Number.POSITIVE_INFINITY, refetchInterval: false, refetchOnWindowFocus: false },
  );

type OfCredential = Pick<Schemas['CredentialDto'], 'provider' | 'credentialType'>;
type OfResource = Pick<Schemas['ResourceDto'], 'provider' | 'resourceType'>;

export const providerOf = (
  types: readonly ProviderTypes[] | undefined,
  { provider }: Pick<OfCredential, 'provider'>,
): ProviderTypes | undefined => types?.find((each) => each.provider === provider);

export const credentialTypeOf = (
  types: readonly ProviderTypes[] | undefined,
  credential: OfCredential,
): CredentialType | undefined =>
  providerOf(types, credential)?.credentialTypes.find(
    ({ credentialType }) => credentialType === credential.credentialType,
  );

export const resourceTypeOf = (
  types: readonly ProviderTypes[] | undefined,
  resource: OfResource,
): ResourceType | undefined =>
  providerOf(types, resource)?.resourceTypes.find(
    ({ resourceType }) => resourceType === resource.resourceType,
  );

/** `SESSION_STOPPED`: "session stopped" */
export const wordsOf = (code: string): string => code.toLowerCase().replaceAll('_', ' ');

/** As sentences begin. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** What a config says, by its fields' labels: "Port 5432, Protocol tcp" */
export function configText(type: ResourceType | undefined, config: Schemas['ResourceConfigDto']): string {
  const given = Object.entries(config).map(([name, value]) => {
    const label = type?.config.find((field) => field.name === name)?.label ?? name;
    return `${label} ${Array.isArray(value) ? value.join(', ') : (value ?? 'no limit')}`;
  });
  return given.join(' · ');
}
