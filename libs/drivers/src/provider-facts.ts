import type { Provider } from '#rules';
import type { DriverTraits } from './provider-driver';

/** The fields of one credentialType. */
export interface CredentialShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** fields that are no secret and are shown to admins */
  readonly hints: readonly string[];
}

/** What the API checks and plans with before a driver, and the SDK behind it, is loaded. Plain data. */
export interface ProviderFacts {
  readonly provider: Provider;
  readonly traits: DriverTraits;
  readonly credentialTypes: Readonly<Record<string, CredentialShape>>;
  readonly resourceTypes: Readonly<Record<string, ResourceTypeFacts>>;
  /** null: the provider has no regions. Regions become part of host names: nothing else may pass. */
  readonly region: { readonly pattern: RegExp; readonly example: string } | null;
}

export interface ResourceTypeFacts {
  readonly identifier: { readonly pattern: RegExp; readonly example: string };
  /** one name for one cloud object, however two tenants spell it: they share its rules and its lease */
  readonly targetKey: (identifier: string) => string;
}
