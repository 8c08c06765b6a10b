import { DriverRegistry, policyOf } from '#drivers';
import { GRANTED, WITH_ROLES } from '../../apps/simulator/src/roles/roles';

const PERMISSION = /\b(?:(?:ec2|eks|wafv2):\w+|compute(?:\.\w+)+|Microsoft(?:\.\w+)+\/[\w/]+)/g;

// the simulated accounts refuse every other call, so that the conformance suite shows that the policies suffice
it.each(WITH_ROLES)('the simulated account of %s grants what the documented policies name', (provider) => {
  const facts = DriverRegistry.facts(provider);
  const types = Object.values(facts.resourceTypes);
  const named = types.flatMap(({ policy }) => policy.match(PERMISSION) ?? []);
  expect([...new Set(named)].toSorted()).toEqual(GRANTED[provider].toSorted());
  // pasted together, they are what they are one by one
  const together = policyOf(facts, types).match(PERMISSION) ?? [];
  expect([...new Set(together)].toSorted()).toEqual(GRANTED[provider].toSorted());
});
