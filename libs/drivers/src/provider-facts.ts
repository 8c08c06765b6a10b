import type { PortsPerRule, Provider, ResourceConfig } from '#rules';
import type { DriverTraits } from './provider-driver';
import type { TrustSetup } from './trust-setup';

/** The required format of a text field, and the error message for other values. */
export interface FieldForm {
  readonly pattern: RegExp;
  /** error message, follows the field's name: `must be …` */
  readonly words: string;
  /** a valid value */
  readonly example: string;
  /** check beyond the pattern: an error message that follows the field's name, null when the text is valid */
  readonly refusal?: (text: string) => string | null;
  /** error message for a missing value: where to find it */
  readonly missing?: string;
  /** restores a text that copying has changed, when it does not match the pattern */
  readonly repair?: (text: string) => string;
}

/** A credential's fields by name. */
export type Fields = Readonly<Record<string, string>>;

/** Which account a credential reaches, in the provider's words: one credential may be for many. */
export interface AccountShape {
  /** what the provider calls it; follows `the` */
  readonly noun: string;
  readonly pattern: RegExp;
  readonly example: string;
  /** the account that the credential's fields name; null: they leave it open, and each resource names one */
  readonly of: (fields: Fields) => string | null;
  /** the account that the fields name is only where a resource is that names no other */
  readonly isDefault?: true;
  /** the fields of the credential in one account */
  readonly fill: (fields: Fields, account: string) => Fields;
  /** whether the provider can be asked for the accounts: by the credential as it is, or by what its fields name */
  readonly isListed: (fields: Fields) => boolean;
}

/** The fields of one credentialType. Other fields are ignored. */
export interface CredentialShape {
  /** for people */
  readonly label: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** by field: what the value is and where to find it */
  readonly descriptions: Readonly<Record<string, string>>;
  /** by field, for fields with a format */
  readonly forms: Readonly<Record<string, FieldForm>>;
  /** fields that are not secret and are shown to admins */
  readonly hints: readonly string[];
  /** hints that determine where targets are: they must not change when the secrets are rotated */
  readonly fixedHints?: readonly string[];
  /** other names of fields, as the provider's tools print them: the field by its other name */
  readonly aliases?: Readonly<Record<string, string>>;
  /** fields that a pasted file has in another form */
  readonly parse?: (given: Readonly<Record<string, unknown>>) => Readonly<Record<string, string>>;
  /** the cloud trusts tokens that this deployment signs: needs an issuer, holds no secret */
  readonly needsIssuer?: true;
  /** absent: nothing tells which account it reaches */
  readonly account?: AccountShape;
  /**
   * commands to paste into a shell, so that the cloud trusts the organization's issuer, or this deployment, and allows what
   * `policyOf` names
   */
  readonly setup?: (trust: TrustSetup, policy: string) => string;
  /** what holds many accounts, for which `setup` has commands too */
  readonly scope?: FieldForm;
}

/** By credentialType. */
export type CredentialTypes = Readonly<Record<string, CredentialShape>>;

/** What the API validates and plans with, without loading the driver and its SDK. Plain data. */
export interface ProviderFacts {
  readonly provider: Provider;
  /** for people */
  readonly label: string;
  /** environment variables that the driver reads */
  readonly variables: readonly string[];
  readonly credentialTypes: CredentialTypes;
  readonly resourceTypes: Readonly<Record<string, ResourceTypeFacts>>;
  /** one text for the policies of several types; omitted: one after another */
  readonly joinPolicies?: (policies: readonly string[]) => string;
}

/** Of a type without a name the provider's first one is meant: clients of the API that know no types show one policy. */
export const firstTypeOf = ({ resourceTypes }: ProviderFacts): ResourceTypeFacts =>
  Object.values(resourceTypes)[0]!;

/** The minimum permissions for these types of resources, as text to paste. */
export function policyOf(facts: ProviderFacts, types: readonly ResourceTypeFacts[]): string {
  const policies = [...new Set(types.map(({ policy }) => policy))];
  return policies.length === 1 ? policies[0]! : (facts.joinPolicies?.(policies) ?? policies.join('\n'));
}

export const CUTS_CONNECTIONS = ['yes', 'no', 'depends'] as const;

/** Effect on established connections when their address is removed. */
export interface Revocation {
  readonly cutsConnections: (typeof CUTS_CONNECTIONS)[number];
  /** explanation: what it depends on, or what stays open */
  readonly words: string;
}

/** A tenant's reference to a target. */
export interface ResourceNaming {
  /** part of the target's name where names are unique per tenant only */
  readonly organization: string;
  readonly identifier: string;
  readonly config: ResourceConfig;
  /** the credential's `hints`: its project, subscription or address */
  readonly hints: Readonly<Record<string, string>>;
}

/** The canonical name of a target: tenants that spell it differently share its rules and its lease. */
export interface TargetName {
  /** unique over all providers */
  readonly key: string;
  /** becomes `CloudTarget.identifier` */
  readonly identifier: string;
}

/** A field of a resource's config, as a form shows it. */
export interface ConfigField {
  readonly name: string;
  readonly type: 'integer' | 'integers' | 'text' | 'texts';
  readonly description: string;
  readonly example: unknown;
}

/** A region. It becomes part of host names, so other values must be rejected. */
export interface RegionForm {
  readonly pattern: RegExp;
  readonly example: string;
}

/** How long after a rule is on the target, or off it, the provider acts on that. */
export interface Effect {
  readonly usualSeconds: number;
  readonly atMostSeconds: number;
}

export type Family = 'ipv4' | 'ipv6';
export const BOTH_FAMILIES: readonly Family[] = ['ipv4', 'ipv6'];

export interface ResourceTypeFacts {
  /** for people */
  readonly label: string;
  readonly traits: DriverTraits;
  /** addresses that a target may take */
  readonly families: readonly Family[];
  readonly effect: Effect;
  /** null: targets have no region that is named beside them */
  readonly region: RegionForm | null;
  /** the region in an identifier, where it has one */
  readonly regionOf?: (identifier: string) => string;
  /** the account in an identifier; undefined: it names none */
  readonly accountOf?: (identifier: string) => string | undefined;
  /** the minimum permissions of the credential, as text to paste */
  readonly policy: string;
  readonly revocation: Revocation;
  readonly identifier: { readonly pattern: RegExp; readonly example: string; readonly description: string };
  readonly portsPerRule: PortsPerRule;
  /** allowed fields of `config`; other fields known to Drawbridge are rejected */
  readonly config: readonly ConfigField[];
  readonly nameTarget: (named: ResourceNaming) => TargetName;
}

/** Of most types: any address, at once, and no region beside the name. */
export const USUAL: Pick<ResourceTypeFacts, 'families' | 'effect' | 'region'> = {
  families: BOTH_FAMILIES,
  effect: { usualSeconds: 0, atMostSeconds: 0 },
  region: null,
};

/** Config fields that select traffic, for every resourceType whose rules have ports. */
export const TRAFFIC_FIELDS: readonly ConfigField[] = [
  {
    name: 'port',
    type: 'integer',
    description: 'the port to open; without port and ports every port is opened',
    example: 22,
  },
  { name: 'ports', type: 'integers', description: 'several ports, instead of port', example: [80, 443] },
  { name: 'protocol', type: 'text', description: 'tcp (when left out), udp, icmp or all', example: 'tcp' },
];
