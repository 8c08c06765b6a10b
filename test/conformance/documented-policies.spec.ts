import { randomUUID } from 'node:crypto';
import { DriverRegistry, policyOf } from '#drivers';
import { ruleKey } from '#rules';
import { GRANTED, WITH_ROLES, type WithRoles } from '../../apps/simulator/src/roles/roles';
import { addition, allOf, kinds, remove } from './driver-actions';
import { LIST_TYPES, targetOf } from './foreign-entries';
import { SimulatedCloud } from './simulated-cloud';

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

const WITH_POLICIES = LIST_TYPES.flatMap((type) => {
  const provider = WITH_ROLES.find((one) => one === type.provider);
  return provider ? [[type.resourceType, provider, type] as const] : [];
});

// that verification names each action which is missing: the conformance suite
it.each(WITH_POLICIES)(
  'the policy of %s is enough by itself',
  async (resourceType, provider: WithRoles, type) => {
    const cloud = await SimulatedCloud.start(provider, { read: [], add: [], remove: [] }, 100, 50);
    try {
      const { policy } = DriverRegistry.facts(provider).resourceTypes[resourceType]!;
      const pasted: readonly string[] = policy.match(PERMISSION) ?? [];
      await cloud.withdraw(GRANTED[provider].filter((action) => !pasted.includes(action)));
      const driver = await cloud.drivers().driverFor(provider, resourceType);
      const ruleId = randomUUID();
      const spec = allOf('203.0.113.7/32');
      const target = targetOf(type, cloud.url, new Map([[ruleKey(spec), ruleId]]));
      await driver.verify(target, {});
      expect(kinds(await driver.applyChanges(target, [addition(spec, ruleId)]))).toEqual(['done']);
      const ours = (await driver.inspect(target)).rules.find(({ ownRuleId }) => ownRuleId === ruleId);
      expect(kinds(await driver.applyChanges(target, [remove(ours!.providerRuleId)]))).toEqual(['done']);
    } finally {
      await cloud.close();
    }
  },
);
