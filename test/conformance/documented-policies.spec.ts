import { DriverRegistry } from '#drivers';
import { GRANTED, WITH_ROLES } from '../../apps/simulator/src/roles/roles';

const PERMISSION = /\b(?:ec2:\w+|compute(?:\.\w+)+|Microsoft(?:\.\w+)+\/[\w/]+)/g;

// the simulated accounts refuse every other call, so that the conformance suite shows that the policies suffice
it.each(WITH_ROLES)('the simulated account of %s grants what the documented policy names', (provider) => {
  const { policy } = DriverRegistry.facts(provider);
  expect((policy.match(PERMISSION) ?? []).toSorted()).toEqual(GRANTED[provider].toSorted());
});
