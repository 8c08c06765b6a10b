import { ruleKey } from '#rules';
import { until } from '../harness/until';
import type { BenchOptions, DriverBench } from './driver-bench';
import { kinds, remove } from './driver-actions';
import { CAPACITY, driverSuite } from './driver-suite';

/** What every driver whose rules carry our mark must do when a rule is edited in place. */
export function describeEditedRules(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
): void {
  describe(`${name} when a rule of ours is edited`, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY }));
    const { specOf, add, apply, read, addOne, addresses } = suite.actions;

    it('returns the same rule id from the addition and every read', async () => {
      const batch = ['203.0.113.7/32', '203.0.113.8/32'].map((cidr) => add(specOf(cidr)));
      const results = await apply(batch);
      const ids = results.map((result) => (result.result === 'done' ? result.providerRuleId : null));
      const observed = await read();
      expect(batch.map(({ ruleId }) => observed.find((rule) => rule.ownRuleId === ruleId))).toEqual(
        ids.map((providerRuleId) => expect.objectContaining({ providerRuleId }) as object),
      );
      expect(await read()).toEqual(observed);
    });

    it.each([
      ['deleted', ''],
      ['replaced by another text', 'office'],
      ['damaged', 'Drawbridge, edited'],
    ])(
      'reads a rule whose mark was %s as unmarked with its id, and removes it by that id',
      async (_, text) => {
        const { change, id } = await addOne(specOf('203.0.113.7/32'));
        const { id: other } = await addOne(specOf('203.0.113.8/32'));
        await suite.bench.edit!(suite.target, '203.0.113.7', { description: text });
        expect((await suite.bench.rules(suite.target)).map(({ address, ours }) => [address, ours])).toEqual([
          ['203.0.113.7', false],
          ['203.0.113.8', true],
        ]);
        expect(await read()).toContainEqual({
          key: ruleKey(change.spec),
          providerRuleId: id,
          ownRuleId: null,
        });
        expect(kinds(await apply([remove(id)]))).toEqual(['done']);
        expect(await addresses()).toEqual(['203.0.113.8']);
        expect(await read()).toMatchObject([{ providerRuleId: other }]);
      },
    );

    it('removes unmarked rules beside marked ones, in a batch that adds as well', async () => {
      const { id: unmarked } = await addOne(specOf('203.0.113.7/32'));
      const { id: marked } = await addOne(specOf('203.0.113.8/32'));
      await suite.bench.edit!(suite.target, '203.0.113.7', { description: '' });
      const changes = [remove(unmarked), remove(marked), add(specOf('203.0.113.9/32'))];
      expect(kinds(await apply(changes))).toEqual(['done', 'done', 'done']);
      expect(await addresses()).toEqual(['203.0.113.9']);
    });

    it('reads a rule whose address was edited with its id and the new key, unless the address is its id', async () => {
      const { change, id } = await addOne(specOf('203.0.113.7/32'));
      const edited = suite.bench.edit!(suite.target, '203.0.113.7', { address: '198.51.100.9' });
      if (suite.bench.cloud.addressIsIdentity) {
        await expect(edited).rejects.toThrow('address');
        return;
      }
      await edited;
      const moved = specOf('198.51.100.9/32');
      expect(await read()).toEqual([{ key: ruleKey(moved), providerRuleId: id, ownRuleId: change.ruleId }]);
      await suite.bench.edit!(suite.target, '198.51.100.9', { description: '' });
      expect(await read()).toEqual([{ key: ruleKey(moved), providerRuleId: id, ownRuleId: null }]);
    });

    it('reads a rule whose ports were edited with its id and the new key', async () => {
      if (!suite.bench.cloud.ports) return;
      const { change, id } = await addOne(specOf('203.0.113.7/32'));
      await suite.bench.edit!(suite.target, '203.0.113.7', { fromPort: 22, toPort: 80 });
      expect(await read()).toEqual([
        { key: '203.0.113.7/32 tcp 22-80', providerRuleId: id, ownRuleId: change.ruleId },
      ]);
    });
  });
}

/** What every driver whose credentials are exchanged for tokens must do when the cloud refuses a token. */
export function describeTokens(name: string, start: (options: BenchOptions) => Promise<DriverBench>): void {
  describe(`${name} when the cloud refuses a token`, () => {
    const suite = driverSuite(
      () => start({ capacity: CAPACITY }),
      (bench) => bench.tokens!.target(0),
    );
    const { specOf, add, apply, read, addOne, addresses } = suite.actions;
    const refusals = async (): Promise<number> => (await suite.bench.tokens!.refused(suite.target)).length;

    it('reads with a new token', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await suite.bench.tokens!.revoke();
      expect(await read()).toMatchObject([{ providerRuleId: id }]);
      expect(await refusals()).toBe(1);
    });

    it('adds and removes with a new token without repeating accepted writes', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await suite.bench.tokens!.revoke();
      const changes = ['203.0.113.8/32', '203.0.113.9/32', '203.0.113.10/32'].map((cidr) =>
        add(specOf(cidr)),
      );
      expect(kinds(await apply([...changes, remove(id)]))).toEqual(['done', 'done', 'done', 'done']);
      expect(await refusals()).toBe(1);
      expect(await addresses()).toEqual(['203.0.113.10', '203.0.113.8', '203.0.113.9']);
      expect(await suite.bench.rules(suite.target)).toHaveLength(3);
    });

    it('retries a refused addition once, and reports it as denied when the new token is refused too', async () => {
      await read();
      await suite.bench.injectFault(suite.target, 'add', 'unauthenticated', { count: 1 });
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))]))).toEqual(['done']);
      await suite.bench.injectFault(suite.target, 'add', 'unauthenticated', { count: 2 });
      expect(kinds(await apply([add(specOf('203.0.113.8/32'))]))).toEqual(['denied']);
      expect(await addresses()).toEqual(['203.0.113.7']);
      expect(kinds(await apply([add(specOf('203.0.113.8/32'))]))).toEqual(['done']);
    });
  });
}

/**
 * What every driver whose cloud has asynchronous operations must do when the credential may not poll them.
 * @param expected the outcome of such a write: `done` where reading the rule shows it
 */
export function describeUnpolledWrites(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
  expected: 'done' | 'unknown',
): void {
  describe(`${name} when its operations may not be polled`, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY, operationMs: 150 }));
    const { specOf, add, apply, addOne, addresses } = suite.actions;

    it('reports no change of the batch as denied, and retries complete all of them', async () => {
      const { id } = await addOne(specOf('203.0.113.1/32'));
      const { role } = suite.bench;
      await role!.withdraw(role!.polling);
      const cidrs = ['203.0.113.2/32', '203.0.113.3/32', '203.0.113.4/32'];
      const changes = [...cidrs.map((cidr) => add(specOf(cidr))), remove(id)];
      const first = kinds(await apply(changes));
      expect(first.at(-1)).toBe(expected);
      const results = new Set(first);
      await until('every change was made', async () => {
        if ((await addresses()).join() === '203.0.113.2,203.0.113.3,203.0.113.4') return true;
        for (const kind of kinds(await apply(changes))) results.add(kind);
        return false;
      });
      // retryable outcomes only
      for (const kind of results) expect(['done', 'unknown', 'conflict', 'transient']).toContain(kind);
      const [only] = kinds(await apply([add(specOf('203.0.113.5/32'))]));
      expect(only).toBe(expected);
    });
  });
}
