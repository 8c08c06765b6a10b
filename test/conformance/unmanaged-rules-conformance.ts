import { randomUUID } from 'node:crypto';
import { ruleKey } from '#rules';
import { kinds, remove } from './driver-actions';
import type { DriverSuite } from './driver-suite';

/** Seconds since 1970. */
const LONG_AGO = 1_600_000_000;

/** Rules of other programs and of other deployments. */
export function describeUnmanagedRules(suite: DriverSuite): void {
  const { specOf, add, apply, read, addresses } = suite.actions;

  describe('unmanaged rules', () => {
    it('reports an address that an unmanaged rule allows as done and does not change that rule', async () => {
      await suite.bench.addUnmanaged(suite.target, {
        address: '203.0.113.7',
        port: 22,
        description: 'office',
      });
      const unmanaged = await suite.bench.rules(suite.target);
      const [observed] = await read();
      expect(observed).toMatchObject({ key: ruleKey(specOf('203.0.113.7/32')), ownRuleId: null });
      const results = await apply([add(specOf('203.0.113.7/32')), add(specOf('203.0.113.8/32'))]);
      const unmanagedDoes = suite.bench.cloud.adoptsUnmanagedRules;
      if (unmanagedDoes)
        expect(results[0]).toEqual({ result: 'done', providerRuleId: observed?.providerRuleId });
      expect(kinds(results)).toEqual(['done', 'done']);
      expect((await read()).filter(({ ownRuleId }) => ownRuleId !== null)).toHaveLength(
        unmanagedDoes ? 1 : 2,
      );
      expect((await suite.bench.rules(suite.target)).filter(({ ours }) => !ours)).toEqual(unmanaged);
    });

    it('reads rules with the mark of another deployment or a malformed mark as unmanaged', async () => {
      const other = { ...suite.target, deployment: 'other' };
      const change = add(specOf('203.0.113.7/32'), other.deployment);
      const { ruleId } = change;
      expect(kinds(await suite.bench.driver.applyChanges(other, [change]))).toEqual(['done']);
      await suite.bench.addUnmanaged(suite.target, {
        address: '203.0.113.8',
        port: 22,
        description: `drawbridge:${suite.target.deployment}:${ruleId}`,
      });
      await suite.bench.addUnmanaged(suite.target, {
        address: '203.0.113.9',
        port: 22,
        description: `drawbridge:${suite.target.deployment}:x:never`,
      });
      const observed = await read();
      // where an address must be on every list, an entry of another deployment alone has no effect
      const isSeen = suite.bench.cloud.batch !== 'whole-list' || suite.bench.cloud.sharedList;
      expect(observed).toHaveLength(isSeen ? 3 : 2);
      expect(new Set(observed.map(({ ownRuleId }) => ownRuleId))).toEqual(new Set([null]));
    });

    it('a rule whose time has passed stays until it is removed: no cloud ends rules by itself', async () => {
      const ruleId = randomUUID();
      const mark = { deployment: suite.target.deployment, ruleId, expiresAt: LONG_AGO };
      const spec = specOf('203.0.113.7/32');
      const [added] = await apply([{ ...add(spec), ruleId, mark }]);
      if (added?.result !== 'done' || added.providerRuleId === null) throw new Error('It was not added');
      const { providerRuleId } = added;
      expect(await read()).toEqual([{ key: ruleKey(spec), providerRuleId, ownRuleId: ruleId }]);
      expect(await addresses()).toEqual(['203.0.113.7']);
      expect(kinds(await apply([remove(providerRuleId)]))).toEqual(['done']);
      expect(await addresses()).toEqual([]);
    });
  });
}
