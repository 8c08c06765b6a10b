import type { PortsPerRule, Provider, ResourceConfig } from '#rules';
import type { DriverTraits } from './provider-driver';

/** What a field's text must look like, and the words for who sent something else. */
export interface FieldForm {
  readonly pattern: RegExp;
  /** goes after the field's name: `must be …` */
  readonly words: string;
  /** a text that fits */
  readonly example: string;
  /** what a pattern cannot tell: words that go after the field's name, null when the text is fine */
  readonly refusal?: (text: string) => string | null;
}

/** The fields of one credentialType. What else is sent is ignored. */
export interface CredentialShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** of each field: what it is, for who has to find it */
  readonly descriptions: Readonly<Record<string, string>>;
  /** of the fields that are more than any text */
  readonly forms: Readonly<Record<string, FieldForm>>;
  /** fields that are no secret and are shown to admins */
  readonly hints: readonly string[];
  /** of the hints, those that say where targets are: they stay when the secrets are rotated */
  readonly places?: readonly string[];
}

/** By credentialType. */
export type CredentialTypes = Readonly<Record<string, CredentialShape>>;

/** What the API checks and plans with before a driver, and the SDK behind it, is loaded. Plain data. */
export interface ProviderFacts {
  readonly provider: Provider;
  /** of the environment, that its driver reads */
  readonly variables: readonly string[];
  readonly traits: DriverTraits;
  readonly credentialTypes: CredentialTypes;
  readonly resourceTypes: Readonly<Record<string, ResourceTypeFacts>>;
  /** null: the provider has no regions. Regions become part of host names: nothing else may pass. */
  readonly region: { readonly pattern: RegExp; readonly example: string } | null;
  /** the least that the credential has to be allowed, as text to paste */
  readonly policy: string;
  readonly revocation: Revocation;
}

export const CUTS_CONNECTIONS = ['yes', 'no', 'depends'] as const;

/** What becomes of a connection that is already established when its address is taken out. */
export interface Revocation {
  readonly cutsConnections: (typeof CUTS_CONNECTIONS)[number];
  /** a sentence that says of what it depends, or what stays open */
  readonly words: string;
}

/** How a tenant names a target. */
export interface ResourceNaming {
  /** whose: a part of the object's name where every tenant has names of its own */
  readonly organization: string;
  readonly identifier: string;
  readonly config: ResourceConfig;
  /** the credential's `hints`: project, subscription or address it is good for */
  readonly hints: Readonly<Record<string, string>>;
}

/** One target, however two tenants spell it: they share its rules and its lease. */
export interface TargetName {
  /** unique over all providers */
  readonly key: string;
  /** what the driver is given as `CloudTarget.identifier` */
  readonly identifier: string;
}

/** A field of a resource's config, as a form would show it. */
export interface ConfigField {
  readonly name: string;
  readonly type: 'integer' | 'integers' | 'text' | 'texts';
  readonly description: string;
  readonly example: unknown;
}

export interface ResourceTypeFacts {
  readonly identifier: { readonly pattern: RegExp; readonly example: string; readonly description: string };
  readonly portsPerRule: PortsPerRule;
  /** what `config` may hold; another field that Drawbridge knows is refused */
  readonly config: readonly ConfigField[];
  readonly place: (named: ResourceNaming) => TargetName;
}

/** Which traffic: of every resourceType whose rules know ports. */
export const TRAFFIC_FIELDS: readonly ConfigField[] = [
  { name: 'port', type: 'integer', description: 'the port to open', example: 22 },
  { name: 'ports', type: 'integers', description: 'several ports, instead of port', example: [80, 443] },
  { name: 'protocol', type: 'text', description: 'tcp (when left out), udp, icmp or all', example: 'tcp' },
];
