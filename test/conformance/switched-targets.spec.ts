import { randomUUID } from 'node:crypto';
import type { CloudTarget, ProviderDriver } from '#drivers';
import { ruleKey } from '#rules';
import { addition, allOf, kinds, thrown } from './driver-actions';
import { LIST_TYPES, targetOf, type ListType } from './foreign-entries';
import { SimulatedCloud } from './simulated-cloud';
import { SWITCHES } from './switches';

const SPEC = allOf('203.0.113.7/32');
const typeOf = (resourceType: string): ListType =>
  LIST_TYPES.find((type) => type.resourceType === resourceType)!;

describe('A target whose list does not decide', () => {
  it.each(SWITCHES.map((given) => [given.what, given.resourceType, given] as const))(
    'because of %s of %s is refused, and its rules have no effect',
    async (_, __, given) => {
      const type = typeOf(given.resourceType);
      const cloud = await SimulatedCloud.start(type.provider, { read: [], add: [], remove: [] }, 100, 0);
      try {
        const driver: ProviderDriver = await cloud.drivers().driverFor(type.provider, type.resourceType);
        const ruleId = randomUUID();
        const target: CloudTarget = targetOf(type, cloud.url, new Map([[ruleKey(SPEC), ruleId]]));
        expect(kinds(await driver.applyChanges(target, [addition(SPEC, ruleId)]))).toEqual(['done']);
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
