import type { CloudTarget } from '#drivers';
import { hosts, kinds, remove, thrown } from './driver-actions';
import { isEach } from './driver-bench';
import type { DriverSuite } from './driver-suite';

/**
 * Calls without a response or with a failure inside the cloud.
 * @param caseMs timeout of tests that wait for a call to time out
 */
export function describeUnknownOutcomes(suite: DriverSuite, caseMs: number): void {
  const { specOf, add, apply, read, addOne, addresses } = suite.actions;

  describe('missing and inconclusive responses', () => {
    it(
      'reports unknown for a change that had no response, whether it was made or not, and a read shows which',
      async () => {
        const [madeRemoval, unmade, unmadeRemoval, unread] = [1, 2, 3, 4].map((number) =>
          suite.bench.target(number),
        ) as [CloudTarget, CloudTarget, CloudTarget, CloudTarget];
        const { id } = await addOne(specOf('203.0.113.7/32'), madeRemoval);
        const { change: kept, id: keptId } = await addOne(specOf('203.0.113.7/32'), unmadeRemoval);
        for (const [target, effect, fault] of [
          [suite.target, 'add', 'timeout-after-success'],
          [madeRemoval, 'remove', 'timeout-after-success'],
          [unmade, 'add', 'timeout-before'],
          [unmadeRemoval, 'remove', 'timeout-before'],
          [unread, 'read', 'timeout-before'],
        ] as const)
          await suite.bench.injectFault(target, effect, fault, { count: 1 });
        const change = add(specOf('203.0.113.8/32'));
        const [reading, ...results] = await Promise.all([
          thrown(read(unread)),
          apply([change]),
          apply([remove(id), add(specOf('203.0.113.9/32'))], madeRemoval),
          apply([add(specOf('203.0.113.8/32'))], unmade),
          apply([remove(keptId)], unmadeRemoval),
        ]);
        const together = suite.bench.cloud.batch === 'whole-list';
        expect(reading).toBe('transient');
        expect(results.map(kinds)).toEqual([
          ['unknown'],
          ['unknown', together ? 'unknown' : 'transient'],
          ['unknown'],
          ['unknown'],
        ]);
        expect(await read()).toMatchObject([{ ownRuleId: change.ruleId }]);
        expect(await addresses(madeRemoval)).toEqual(together ? ['203.0.113.9'] : []);
        expect(await read(madeRemoval)).toHaveLength(together ? 1 : 0);
        expect(await read(unmade)).toEqual([]);
        expect(await read(unmadeRemoval)).toMatchObject([{ ownRuleId: kept.ruleId }]);
      },
      caseMs,
    );

    it.each(['add', 'remove'] as const)(
      'reports a partial %s as unknown, and a retry completes it',
      async (effect) => {
        const batch = hosts(5).map((cidr) => add(specOf(cidr)));
        const ids =
          effect === 'add'
            ? []
            : (await apply(batch)).map(
                (result) => (result.result === 'done' ? result.providerRuleId : null) ?? '',
              );
        const changes = effect === 'add' ? batch : ids.map(remove);
        await suite.bench.injectFault(suite.target, effect, 'partial', { count: 1 });
        const isWhole = !isEach(suite.bench.cloud, effect);
        // with one call per rule, changes after the failed one were not sent
        expect(kinds(await apply(changes))).toEqual(
          changes.map((_, index) => (isWhole || index === 0 ? 'unknown' : 'transient')),
        );
        const left = isWhole ? [2, 3] : [effect === 'add' ? 1 : 4];
        // a cloud may complete an accepted write later: the read waits for it
        await read();
        expect(left).toContain((await addresses()).length);
        expect(kinds(await apply(changes))).toEqual(changes.map(() => 'done'));
        expect(await addresses()).toHaveLength(effect === 'add' ? 5 : 0);
      },
    );

    it('reports a provider error as unknown for a write and transient for a read', async () => {
      await suite.bench.injectFault(suite.target, 'add', 'error', { count: 1 });
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))]))).toEqual(['unknown']);
      await suite.bench.injectFault(suite.target, 'read', 'error', { count: 1 });
      expect(await thrown(read())).toBe('transient');
    });
  });
}
