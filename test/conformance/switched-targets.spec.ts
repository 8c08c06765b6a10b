import { randomUUID } from 'node:crypto';
import { DriverRegistry, type CloudTarget, type ProviderDriver } from '#drivers';
import { ruleKey } from '#rules';
import { simulatedClouds } from '../harness/product/drawbridge';
import { kinds, thrown } from './driver-actions';
import { LIST_TYPES, targetOf, type ListType } from './foreign-entries';
import { SimulatedCloud } from './simulated-cloud';
import { SWITCHES } from './switches';

const SPEC = { address: '203.0.113.7/32', protocol: 'all', ports: [] } as const;
const typeOf = (resourceType: string): ListType =>
  LIST_TYPES.find((type) => type.resourceType === resourceType)!;

describe('A target whose list does not decide', () => {
  it.each(SWITCHES.map((given) => [given.what, given.resourceType, given] as const))(
    'because of %s of %s is refused, and its rules have no effect',
    async (_, __, given) => {
      const type = typeOf(given.resourceType);
      const cloud = await SimulatedCloud.start(type.provider, { read: [], add: [], remove: [] }, 100, 0);
      try {
        const driver: ProviderDriver = await new DriverRegistry(simulatedClouds(cloud.url)).driverFor(
          type.provider,
          type.resourceType,
        );
        const ruleId = randomUUID();
        const target: CloudTarget = targetOf(type, cloud.url, new Map([[ruleKey(SPEC), ruleId]]));
        const mark = { deployment: target.deployment, ruleId, expiresAt: null };
        const added = await driver.applyChanges(target, [
          { action: 'add', ruleId, spec: SPEC, mark, config: {} },
        ]);
        expect(kinds(added)).toEqual(['done']);
        expect(await thrown(driver.verify(target, {}))).toBe('no error');
        await cloud.change(given.switched(await cloud.objects()));
        expect(await thrown(driver.verify(target, {}))).toBe('invalid');
        const compared = await driver.inspect(target);
        expect(compared.explainOpen({})).toMatch(given.message);
        for (const rules of [compared.rules, (await driver.readRules(target)).rules]) {
          const ours = rules.find(({ ownRuleId }) => ownRuleId === ruleId);
          // a list that is gone has no rules
          expect(ours ? ours.noEffect : 'gone').toMatch(given.keepsList ? given.message : /^gone$/);
        }
      } finally {
        await cloud.close();
      }
    },
  );
});
