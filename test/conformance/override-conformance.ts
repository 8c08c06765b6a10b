import { kinds, remove } from './driver-actions';
import type { UnmanagedRule } from './driver-bench';
import type { DriverSuite } from './driver-suite';

const ADDRESS = '203.0.113.7/32';

/** Rules of ours that denials of other programs precede. */
export function describeOverrides(suite: DriverSuite): void {
  const { specOf, addOne, apply, read } = suite.actions;
  const unmanaged = (address: string, rule: Partial<UnmanagedRule>): Promise<void> =>
    suite.bench.addUnmanaged(suite.target, { address, port: 22, description: 'other', ...rule });
  const deny = (address: string, rule: Partial<UnmanagedRule>): Promise<void> =>
    unmanaged(address, { access: 'deny', ...rule });
  /** The reason why our rule for the address has no effect. */
  const noEffect = async (): Promise<string | undefined> =>
    (await read()).find(({ ownRuleId }) => ownRuleId !== null)?.noEffect;

  describe('a denial that comes before our rule', () => {
    it.each<[string, string, Partial<UnmanagedRule>]>([
      ['of the address', ADDRESS, {}],
      ['of a range that contains it', '203.0.113.0/24', {}],
      ['of every protocol and address', '0.0.0.0/0', { protocol: 'all' }],
    ])('%s is named by a read, and our rule can be removed', async (_, address, rule) => {
      if (!suite.bench.cloud.denials) return;
      const { id } = await addOne(specOf(ADDRESS));
      expect(await noEffect()).toBeUndefined();
      await deny(address, { priority: 105, ...rule });
      expect(await noEffect()).toMatch(/^blocked by \S+$/);
      expect(kinds(await apply([remove(id)]))).toEqual(['done']);
      expect(await read()).toEqual([]);
    });

    it.each<[string, string, Partial<UnmanagedRule>]>([
      ['another address', '203.0.113.8', {}],
      ['a part of the addresses', '203.0.113.128/25', {}],
      ['another port', ADDRESS, { port: 23 }],
      ['a part of the target', ADDRESS, { part: 'denials' }],
      ['the address, after our rule', ADDRESS, { priority: 4000 }],
    ])('is none for %s', async (_, address, rule) => {
      const { denials } = suite.bench.cloud;
      if (!denials) return;
      await addOne(specOf(address.endsWith('/25') ? '203.0.113.0/24' : ADDRESS));
      await deny(address, { priority: 105, ...rule, ...(rule.part && denials) });
      expect(await noEffect()).toBeUndefined();
    });

    it('has no effect on what a rule before it lets in, and two denials together have', async () => {
      if (!suite.bench.cloud.denials) return;
      await addOne(specOf('203.0.113.0/24'));
      await deny('203.0.113.0/25', { priority: 110 });
      expect(await noEffect()).toBeUndefined();
      await deny('203.0.113.128/25', { priority: 111 });
      expect(await noEffect()).toMatch(/^blocked by /);
      await unmanaged('203.0.113.9', { priority: 109 });
      expect(await noEffect()).toBeUndefined();
    });
  });
}
