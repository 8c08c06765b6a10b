import type { UseQueryResult } from '@tanstack/react-query';
import { $api, type Schemas } from '../api';

export type Credential = Schemas['CredentialDto'];
export type Resource = Schemas['ResourceDto'];
export type ProviderTypes = Schemas['ProviderTypesDto'];
export type CredentialType = Schemas['CredentialTypeDto'];
export type ResourceType = Schemas['ResourceTypeDto'];

/** What each provider needs. All forms of credentials and resources are drawn from it: a new provider appears by itself. */
export const useTypes = (): UseQueryResult<readonly ProviderTypes[], unknown> =>
  $api.useQuery('get', '/api/v1/resources/types', {}, { staleTime: 'static', refetchInterval: false });

/** The API lists all providers and all types. */
export const providerOf = (types: readonly ProviderTypes[], of: { provider: string }): ProviderTypes =>
  types.find(({ provider }) => provider === of.provider)!;

export const credentialTypeOf = (types: readonly ProviderTypes[], of: Credential): CredentialType =>
  providerOf(types, of).credentialTypes.find(({ credentialType }) => credentialType === of.credentialType)!;

export const resourceTypeOf = (types: readonly ProviderTypes[], of: Resource): ResourceType =>
  providerOf(types, of).resourceTypes.find(({ resourceType }) => resourceType === of.resourceType)!;

/** Whether a credential is for many accounts: each of its resources names its own. */
export const isForMany = ({ hints }: Credential): boolean =>
  Object.values(hints).some((hint) => hint.includes('{account}'));
