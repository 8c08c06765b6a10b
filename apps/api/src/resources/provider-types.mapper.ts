import type { CredentialIdentity } from '#credentials';
import {
  DriverRegistry,
  type CredentialShape,
  type DriverTraits,
  type FieldForm,
  type ResourceTypeFacts,
} from '#drivers';
import { nativeExpiry, targetTimes, type Provider } from '#rules';
import { configLimits } from './config-limits';
import type {
  CredentialFieldDto,
  ProviderLimitsDto,
  ProviderTypesDto,
  ResourceTypeDto,
  TextFormDto,
} from './dto/provider-types.dto';
import { exampleMessage } from './resource-naming';

/**
 * Everything a form for a provider's credentials and resources needs. Uses static facts only; no driver is loaded.
 * @param identity for set-up commands, with placeholders for the credential and its fields; null: there is no issuer
 */
export function toProviderTypes(provider: Provider, identity: CredentialIdentity | null): ProviderTypesDto {
  const facts = DriverRegistry.facts(provider);
  const isDriven = DriverRegistry.isDriven(provider);
  const resourceTypes = Object.entries(facts.resourceTypes).map((type) => toResourceType(type, isDriven));
  const { region, limits, policy, revocation } = resourceTypes[0]!;
  return {
    provider,
    label: facts.label,
    needsAgent: !isDriven,
    credentialTypes: Object.entries(facts.credentialTypes).map(([credentialType, shape]) => ({
      credentialType,
      label: shape.label,
      fields: credentialFieldsOf(shape),
      needsIssuer: shape.needsIssuer ?? false,
      ...setupOf(shape, identity, policy),
    })),
    resourceTypes,
    ...(region && { region }),
    ...(limits && { limits }),
    policy,
    revocation,
  };
}

/** Words that are written in another way than in the name of a field. */
const SPELLINGS: Readonly<Record<string, string>> = { arn: 'ARN', id: 'ID', url: 'URL' };

/** `roleArn`, `project_id`: "Role ARN", "Project ID" */
function labelOf(name: string): string {
  const words = name.match(/[A-Z]?[a-z0-9]+/g) ?? [name];
  const text = words.map((word) => SPELLINGS[word.toLowerCase()] ?? word.toLowerCase()).join(' ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** Commands about the organization's issuer need one. */
function setupOf(
  { setup, needsIssuer }: CredentialShape,
  identity: CredentialIdentity | null,
  policy: string,
): { setup?: string } {
  if (!setup || (needsIssuer && !identity)) return {};
  return { setup: setup({ issuer: '', subject: '', ...identity, hints: {} }, policy) };
}

function credentialFieldsOf(shape: CredentialShape): CredentialFieldDto[] {
  const { required, optional, descriptions, hints, forms, fixedHints = [] } = shape;
  return [...required, ...optional].map((name) => {
    const form = forms[name];
    return {
      name,
      label: labelOf(name),
      description: descriptions[name]!,
      required: required.includes(name),
      secret: !hints.includes(name),
      fixed: fixedHints.includes(name),
      ...(form && { form: toTextForm(form) }),
    };
  });
}

function toResourceType(
  [resourceType, type]: [string, ResourceTypeFacts],
  isDriven: boolean,
): ResourceTypeDto {
  const { label, identifier, portsPerRule, config, region, traits, policy, revocation, effect } = type;
  return {
    resourceType,
    label,
    identifier: Object.assign(toTextForm({ ...identifier, words: exampleMessage(identifier) }), {
      description: identifier.description,
    }),
    portsPerRule,
    config: config.map((field) => ({ ...field, label: labelOf(field.name), ...configLimits(field.name) })),
    families: [...type.families],
    ...(region && { region: toTextForm({ ...region, words: exampleMessage(region) }) }),
    ...(isDriven && { limits: toLimits(traits) }),
    policy,
    revocation,
    effect,
    closesWithinSeconds: targetTimes(resourceType).closesWithinSeconds,
    nativeExpirySeconds: nativeExpiry(resourceType)?.maxSeconds ?? null,
  };
}

const toTextForm = ({ words, pattern, example }: FieldForm): TextFormDto => ({
  words,
  pattern: pattern.source,
  flags: pattern.flags,
  example,
});

const toLimits = ({
  batchSize,
  writeBudget,
  callPerRule,
  callTimeoutMs,
}: DriverTraits): ProviderLimitsDto => ({
  rulesInOneBatch: batchSize,
  writesInABurst: writeBudget.burst,
  writesPerSecond: writeBudget.refillPerSecond,
  callForEachRule: callPerRule ?? false,
  secondsForACall: callTimeoutMs / 1000,
});
