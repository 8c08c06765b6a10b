import type { Provider } from '#rules';
import type { DriverTraits } from './provider-driver';

/** What a field's text must look like, and the words for who sent something else. */
export interface FieldForm {
  readonly pattern: RegExp;
  /** goes after the field's name: `must be …` */
  readonly words: string;
}

/** The fields of one credentialType. What else is sent is ignored. */
export interface CredentialShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** of the fields that are more than any text */
  readonly forms: Readonly<Record<string, FieldForm>>;
  /** fields that are no secret and are shown to admins */
  readonly hints: readonly string[];
}

/** By credentialType. */
export type CredentialTypes = Readonly<Record<string, CredentialShape>>;

/** What the API checks and plans with before a driver, and the SDK behind it, is loaded. Plain data. */
export interface ProviderFacts {
  readonly provider: Provider;
  readonly traits: DriverTraits;
  readonly credentialTypes: CredentialTypes;
  readonly resourceTypes: Readonly<Record<string, ResourceTypeFacts>>;
  /** null: the provider has no regions. Regions become part of host names: nothing else may pass. */
  readonly region: { readonly pattern: RegExp; readonly example: string } | null;
}

export interface ResourceTypeFacts {
  readonly identifier: { readonly pattern: RegExp; readonly example: string };
  /**
   * One name for one cloud object, however two tenants spell it: they share its rules and its lease. Where each tenant
   * has names of its own, the organization is a part of it.
   */
  readonly targetKey: (identifier: string, organization: string) => string;
}
