import { DriverError } from '#drivers';
import type { BenchOptions, DriverBench } from './driver-bench';
import { kinds, remove } from './driver-actions';
import { CAPACITY, driverSuite } from './driver-suite';

/** What every driver must do when its cloud returns malformed, delayed or stale responses. */
export function describeFaults(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
  caseMs: number,
): void {
  describe(name, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY }));
    const { specOf, add, apply, read, addOne, addresses } = suite.actions;
    const ours = async (): Promise<(string | null)[]> => (await read()).map(({ ownRuleId }) => ownRuleId);

    describe.each(['html-page', 'oversized', 'truncated', 'error-in-success'] as const)('%s', (fault) => {
      it(
        'in response to a write causes an unknown outcome',
        async () => {
          const { change, id } = await addOne(specOf('203.0.113.7/32'));
          await suite.bench.injectFault(suite.target, 'add', fault, { count: 1 });
          const added = add(specOf('203.0.113.8/32'));
          expect(kinds(await apply([added]))).toEqual(['unknown']);
          await suite.bench.injectFault(suite.target, 'remove', fault, { count: 1 });
          const [removed] = kinds(await apply([remove(id)]));
          // a response without a body cannot be corrupted
          if (removed === 'done') expect(await addresses()).not.toContain('203.0.113.7');
          else expect(removed).toBe('unknown');
          // a retry succeeds, and a read shows the result
          expect(kinds(await apply([remove(id), added]))).toEqual(['done', 'done']);
          expect(await ours()).toEqual([added.ruleId]);
          expect(await ours()).not.toContain(change.ruleId);
          expect(await addresses()).toEqual(['203.0.113.8']);
        },
        caseMs,
      );

      it(
        'in response to a read is not treated as an empty target',
        async () => {
          await addOne(specOf('203.0.113.7/32'));
          await suite.bench.injectFault(suite.target, 'read', fault, { count: 1 });
          await expect(read()).rejects.toMatchObject({ kind: 'transient' });
          expect(await read()).toHaveLength(1);
        },
        caseMs,
      );
    });

    it('reports the retry delay of a throttled call, where the cloud gives one', async () => {
      const throttled = async (delayMs: number | undefined): Promise<number | null> => {
        await suite.bench.injectFault(suite.target, 'read', 'throttle', {
          count: 1,
          ...(delayMs !== undefined && { delayMs }),
        });
        const error: unknown = await read().then(
          () => null,
          (reason: unknown) => reason,
        );
        if (!(error instanceof DriverError) || error.kind !== 'throttled')
          throw new Error(`Not throttled: ${String(error)}`);
        return error.retryAfterMs;
      };
      expect(await throttled(7000)).toBe(7000);
      expect(await throttled(undefined)).not.toBe(7000);
    });

    it(
      'a stale read neither hides present rules nor causes duplicates',
      async () => {
        const { change } = await addOne(specOf('203.0.113.7/32'));
        const longAgo = { count: 1, delayMs: 500_000 };
        await suite.bench.injectFault(suite.target, 'read', 'stale-read', longAgo);
        const [again] = kinds(await apply([change]));
        expect(await addresses()).toEqual(['203.0.113.7']);
        expect(again).not.toBe('invalid');
        await suite.bench.reset();
        suite.actions.forget();
        const { id: second } = await addOne(specOf('203.0.113.7/32'));
        await suite.bench.injectFault(suite.target, 'read', 'stale-read', longAgo);
        const [removed] = kinds(await apply([remove(second)]));
        // a complete list is built from the stale read: only the next read shows that the rule is still present
        if (removed === 'done' && suite.bench.cloud.batch !== 'whole-list')
          expect(await addresses()).toEqual([]);
        expect((await read()).length).toBe((await addresses()).length);
        expect(kinds(await apply([remove(second)]))).toEqual(['done']);
        expect(await addresses()).toEqual([]);
      },
      caseMs,
    );

    it(
      'a write that is accepted and fails later is not reported as done and can be retried',
      async () => {
        await suite.bench.injectFault(suite.target, 'add', 'fail-later', { count: 1 });
        const change = add(specOf('203.0.113.7/32'));
        expect(kinds(await apply([change]))).not.toContain('done');
        expect(await addresses()).toEqual([]);
        expect(kinds(await apply([change]))).toEqual(['done']);
        expect(await ours()).toEqual([change.ruleId]);
      },
      caseMs,
    );

    it(
      'a conflict with another writer changes only what is reported as done, and a retry succeeds',
      async () => {
        await suite.bench.injectFault(suite.target, 'add', 'conflict', { count: 1 });
        const change = add(specOf('203.0.113.7/32'));
        const [results] = kinds(await apply([change]));
        expect(['conflict', 'done']).toContain(results);
        expect(await addresses()).toEqual(results === 'done' ? ['203.0.113.7'] : []);
        expect(kinds(await apply([change]))).toEqual(['done']);
        expect(await addresses()).toEqual(['203.0.113.7']);
      },
      caseMs,
    );

    it('a rule that another program adds between read and write is kept', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await read();
      await suite.bench.addUnmanaged(suite.target, { address: '198.51.100.9', port: 4242 });
      expect(kinds(await apply([remove(id), add(specOf('203.0.113.8/32'))]))).toEqual(['done', 'done']);
      const present = await suite.bench.rules(suite.target);
      expect(present.filter(({ ours: isOurs }) => !isOurs).map(({ address }) => address)).toEqual([
        '198.51.100.9',
      ]);
      expect(await addresses()).toContain('203.0.113.8');
    });
  });
}
