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
      'reports unknown for a change that was made without a response, and a read shows it',
      async () => {
        const other = suite.bench.target(1);
        const { id } = await addOne(specOf('203.0.113.7/32'), other);
        await suite.bench.injectFault(suite.target, 'add', 'timeout-after-success', { count: 1 });
        await suite.bench.injectFault(other, 'remove', 'timeout-after-success', { count: 1 });
        const change = add(specOf('203.0.113.8/32'));
        const [added, removed] = await Promise.all([
          apply([change]),
          apply([remove(id), add(specOf('203.0.113.9/32'))], other),
        ]);
        expect(kinds(added)).toEqual(['unknown']);
        const together = suite.bench.cloud.batch === 'whole-list';
        expect(kinds(removed)).toEqual(['unknown', together ? 'unknown' : 'transient']);
        expect(await read()).toMatchObject([{ ownRuleId: change.ruleId }]);
        expect(await addresses(other)).toEqual(together ? ['203.0.113.9'] : []);
        expect(await read(other)).toHaveLength(together ? 1 : 0);
      },
      caseMs,
    );

    it(
      'reports unknown for a change that was not made and had no response, and a read shows it',
      async () => {
        const other = suite.bench.target(1);
        const unread = suite.bench.target(2);
        const { change, id } = await addOne(specOf('203.0.113.7/32'), other);
        await suite.bench.injectFault(suite.target, 'add', 'timeout-before', { count: 1 });
        await suite.bench.injectFault(other, 'remove', 'timeout-before', { count: 1 });
        await suite.bench.injectFault(unread, 'read', 'timeout-before', { count: 1 });
        const calls = [apply([add(specOf('203.0.113.8/32'))]), apply([remove(id)], other)] as const;
        expect(await thrown(read(unread))).toBe('transient');
        expect((await Promise.all(calls)).map(kinds)).toEqual([['unknown'], ['unknown']]);
        expect(await read()).toEqual([]);
        expect(await read(other)).toMatchObject([{ ownRuleId: change.ruleId }]);
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

    it('waits for a slow response', async () => {
      await suite.bench.injectFault(suite.target, 'add', 'slow', { count: 1, delayMs: 300 });
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))]))).toEqual(['done']);
    });
  });
}
