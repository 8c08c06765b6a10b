import { kinds, remove, thrown } from './driver-actions';
import type { BenchOptions, DriverBench } from './driver-bench';
import { CAPACITY, driverSuite } from './driver-suite';

const ADDRESS = '203.0.113.7/32';

/** Locks that let a rule be changed and not be deleted, or neither. */
export function describeLocks(name: string, start: (options: BenchOptions) => Promise<DriverBench>): void {
  describe(`${name} on a locked target`, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY }));
    const { specOf, add, addOne, apply, read, addresses } = suite.actions;
    const lock = (level: 'CanNotDelete' | 'ReadOnly' | null): Promise<void> =>
      suite.bench.lock!(suite.target, level);
    const verify = (): Promise<unknown> => thrown(suite.bench.driver.verify(suite.target, { port: 22 }));
    const tidied = async (): Promise<number> => {
      await suite.bench.driver.inspect(suite.target);
      return (await suite.bench.calls(suite.target)).filter((call) => call === 'remove').length;
    };

    it('lets nobody in any more after a removal that the lock refuses, and says so', async () => {
      const { id } = await addOne(specOf(ADDRESS));
      await suite.bench.addUnmanaged(suite.target, { address: '203.0.113.9', port: 22, priority: 4000 });
      await lock('CanNotDelete');
      expect(await verify()).toBe('no error');
      const [result] = await apply([remove(id)]);
      expect(result).toEqual({
        result: 'done',
        providerRuleId: null,
        note: expect.stringContaining('lock') as string,
      });
      expect(await addresses()).toEqual(['203.0.113.9']);
      // neither ours nor an orphan, and no denial before the rules of other programs
      expect((await read()).map(({ ownRuleId, inForce }) => [ownRuleId, inForce])).toEqual([
        [null, undefined],
      ]);
      expect(kinds(await apply([remove(id)]))).toEqual(['done']);
    });

    it('deletes what is left when the lock is gone, and tries once per comparison before', async () => {
      for (const { id } of [await addOne(specOf(ADDRESS)), await addOne(specOf('203.0.113.8/32'))]) {
        await lock('CanNotDelete');
        await apply([remove(id)]);
        await lock(null);
      }
      await lock('CanNotDelete');
      const before = await tidied();
      expect((await tidied()) - before).toBe(1);
      await lock(null);
      expect((await tidied()) - before).toBe(3);
      expect((await tidied()) - before).toBe(3);
    });

    it('uses what is left when the address is added again', async () => {
      const { change, id } = await addOne(specOf(ADDRESS));
      await lock('CanNotDelete');
      await apply([remove(id)]);
      const again = await apply([change]);
      expect(again).toEqual([{ result: 'done', providerRuleId: id }]);
      expect(await addresses()).toEqual(['203.0.113.7']);
    });

    it('is refused by verify when the lock is read-only, where locks may be read', async () => {
      await lock('ReadOnly');
      expect(await verify()).toBe('invalid');
      await suite.bench.role!.withdraw(['Microsoft.Authorization/locks/read']);
      expect(await verify()).toBe('no error');
      expect(kinds(await apply([add(specOf(ADDRESS))]))).toEqual(['denied']);
    });
  });
}
