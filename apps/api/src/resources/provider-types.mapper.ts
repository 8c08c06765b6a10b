import type { CredentialIdentity } from '#credentials';
import {
  DriverRegistry,
  type CredentialShape,
  type DriverTraits,
  type FieldForm,
  type ResourceTypeFacts,
} from '#drivers';
import type { Provider } from '#rules';
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
  return {
    provider,
    needsAgent: !isDriven,
    credentialTypes: Object.entries(facts.credentialTypes).map(([credentialType, shape]) => ({
      credentialType,
      fields: credentialFieldsOf(shape),
      needsIssuer: shape.needsIssuer ?? false,
      ...(identity && shape.setup && { setup: shape.setup({ ...identity, hints: {} }) }),
    })),
    resourceTypes: Object.entries(facts.resourceTypes).map(toResourceType),
    ...(facts.region && { region: toTextForm({ ...facts.region, words: exampleMessage(facts.region) }) }),
    ...(isDriven && { limits: toLimits(facts.traits) }),
    policy: facts.policy,
    revocation: facts.revocation,
  };
}

function credentialFieldsOf(shape: CredentialShape): CredentialFieldDto[] {
  const { required, optional, descriptions, hints, forms, fixedHints = [] } = shape;
  return [...required, ...optional].map((name) => {
    const form = forms[name];
    return {
      name,
      description: descriptions[name]!,
      required: required.includes(name),
      secret: !hints.includes(name),
      fixed: fixedHints.includes(name),
      ...(form && { form: toTextForm(form) }),
    };
  });
}

function toResourceType([resourceType, type]: [string, ResourceTypeFacts]): ResourceTypeDto {
  const { identifier, portsPerRule, config } = type;
  return {
    resourceType,
    identifier: Object.assign(toTextForm({ ...identifier, words: exampleMessage(identifier) }), {
      description: identifier.description,
    }),
    portsPerRule,
    config: config.map((field) => ({ ...field, ...configLimits(field.name) })),
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
