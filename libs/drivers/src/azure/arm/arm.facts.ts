import type { ResourceTypeFacts } from '../../provider-facts';
import { namingOf, rolePolicy } from '../resource-id';
import { actionsOf, ARM_TYPES, type ArmType } from './tables';

const factsOf = (resourceType: string, type: ArmType): ResourceTypeFacts => ({
  label: type.label,
  traits: type.traits,
  families: type.families,
  effect: type.effect,
  region: null,
  policy: rolePolicy(actionsOf(type)),
  revocation: type.revocation,
  ...namingOf(resourceType, type.armType, type.noun, type.example),
  portsPerRule: 'none',
  config: [],
});

/** By resourceType. */
export const ARM_FACTS: Readonly<Record<string, ResourceTypeFacts>> = Object.fromEntries(
  Object.entries(ARM_TYPES).map(([resourceType, type]) => [resourceType, factsOf(resourceType, type)]),
);
