import type { CloudTarget } from '#drivers';
import { ruleKey } from '#rules';
import { until } from '../harness/until';
import type { BenchOptions, DriverBench } from './driver-bench';
import { driverHand, kinds, remove } from './driver-hand';

const ROOM = 60;

/** What every driver must do whose rules carry our mark, when somebody edits one of them in place. */
export function describeEditedRules(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
): void {
  describe(`${name} when a rule of ours is edited`, () => {
    let bench: DriverBench;
    let target: CloudTarget;

    beforeAll(async () => {
      bench = await start({ room: ROOM });
    });
    beforeEach(async () => {
      await bench.reset();
      hand.forget();
      target = bench.target(0);
    });
    afterAll(() => bench.close());

    const hand = driverHand(
      () => bench,
      () => target,
    );
    const { open, add, apply, read, addOne, addresses } = hand;

    it('gives a rule the same id in the answer to an addition and in every read', async () => {
      const batch = ['203.0.113.7/32', '203.0.113.8/32'].map((cidr) => add(open(cidr)));
      const results = await apply(batch);
      const ids = results.map((result) => (result.result === 'done' ? result.providerRuleId : null));
      const observed = await read();
      expect(batch.map(({ ruleId }) => observed.find((rule) => rule.ownRuleId === ruleId))).toEqual(
        ids.map((providerRuleId) => expect.objectContaining({ providerRuleId }) as object),
      );
      expect(await read()).toEqual(observed);
    });

    it.each([
      ['removed', ''],
      ['replaced by another text', 'office'],
      ['damaged', 'Drawbridge, edited'],
    ])('shows a rule whose mark was %s as unmarked under its id, and removes it by that', async (_, text) => {
      const { change, id } = await addOne(open('203.0.113.7/32'));
      const { id: other } = await addOne(open('203.0.113.8/32'));
      await bench.edit!(target, '203.0.113.7', { description: text });
      expect((await bench.openings(target)).map(({ address, ours }) => [address, ours])).toEqual([
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
    });

    it('removes unmarked rules beside marked ones, in a batch that adds as well', async () => {
      const { id: unmarked } = await addOne(open('203.0.113.7/32'));
      const { id: marked } = await addOne(open('203.0.113.8/32'));
      await bench.edit!(target, '203.0.113.7', { description: '' });
      const changes = [remove(unmarked), remove(marked), add(open('203.0.113.9/32'))];
      expect(kinds(await apply(changes))).toEqual(['done', 'done', 'done']);
      expect(await addresses()).toEqual(['203.0.113.9']);
    });

    it('shows a rule whose address was edited under its id with another key, or has the address as its id', async () => {
      const { change, id } = await addOne(open('203.0.113.7/32'));
      const edited = bench.edit!(target, '203.0.113.7', { address: '198.51.100.9' });
      if (bench.cloud.addressIsIdentity) {
        await expect(edited).rejects.toThrow('address');
        return;
      }
      await edited;
      const moved = open('198.51.100.9/32');
      expect(await read()).toEqual([{ key: ruleKey(moved), providerRuleId: id, ownRuleId: change.ruleId }]);
      await bench.edit!(target, '198.51.100.9', { description: '' });
      expect(await read()).toEqual([{ key: ruleKey(moved), providerRuleId: id, ownRuleId: null }]);
    });

    it('shows a rule whose ports were edited under its id with another key', async () => {
      if (!bench.cloud.ports) return;
      const { change, id } = await addOne(open('203.0.113.7/32'));
      await bench.edit!(target, '203.0.113.7', { fromPort: 22, toPort: 80 });
      expect(await read()).toEqual([
        { key: '203.0.113.7/32 tcp 22-80', providerRuleId: id, ownRuleId: change.ruleId },
      ]);
    });
  });
}

/** What every driver must do whose credentials are exchanged for tokens, when the cloud refuses one. */
export function describeTokens(name: string, start: (options: BenchOptions) => Promise<DriverBench>): void {
  describe(`${name} when the cloud refuses a token`, () => {
    let bench: DriverBench;
    let target: CloudTarget;

    beforeAll(async () => {
      bench = await start({ room: ROOM });
    });
    beforeEach(async () => {
      await bench.reset();
      hand.forget();
      target = bench.tokens!.target(0);
    });
    afterAll(() => bench.close());

    const hand = driverHand(
      () => bench,
      () => target,
    );
    const { open, add, apply, read, addOne, addresses } = hand;
    const refusals = async (): Promise<number> => (await bench.tokens!.refused(target)).length;

    it('reads with a new one', async () => {
      const { id } = await addOne(open('203.0.113.7/32'));
      await bench.tokens!.revoke();
      expect(await read()).toMatchObject([{ providerRuleId: id }]);
      expect(await refusals()).toBe(1);
    });

    it('adds and removes with a new one, and sends nothing twice that was taken', async () => {
      const { id } = await addOne(open('203.0.113.7/32'));
      await bench.tokens!.revoke();
      const changes = ['203.0.113.8/32', '203.0.113.9/32', '203.0.113.10/32'].map((cidr) => add(open(cidr)));
      expect(kinds(await apply([...changes, remove(id)]))).toEqual(['done', 'done', 'done', 'done']);
      expect(await refusals()).toBe(1);
      expect(await addresses()).toEqual(['203.0.113.10', '203.0.113.8', '203.0.113.9']);
      expect(await bench.openings(target)).toHaveLength(3);
    });

    it('sends a refused addition again, and reports one that a new token does not help as denied', async () => {
      await read();
      await bench.bend(target, 'add', 'unauthenticated', { count: 1 });
      expect(kinds(await apply([add(open('203.0.113.7/32'))]))).toEqual(['done']);
      await bench.bend(target, 'add', 'unauthenticated', { count: 2 });
      expect(kinds(await apply([add(open('203.0.113.8/32'))]))).toEqual(['denied']);
      expect(await addresses()).toEqual(['203.0.113.7']);
      expect(kinds(await apply([add(open('203.0.113.8/32'))]))).toEqual(['done']);
    });

    it('serves calls side by side that all meet it', async () => {
      const others = [1, 2].map((number) => bench.tokens!.target(number));
      await read();
      await bench.tokens!.revoke();
      const results = await Promise.all(
        [target, ...others].map((on) => apply([add(open('203.0.113.7/32'))], on)),
      );
      expect(results.map(kinds)).toEqual([['done'], ['done'], ['done']]);
    });
  });
}

/**
 * What every driver must do whose cloud accepts a write first and does it then, when the credential may not watch it.
 * @param seen what it makes of such a write: the rule itself may tell
 */
export function describeUnwatchedWrites(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
  seen: 'done' | 'unknown',
): void {
  describe(`${name} when its writes may not be watched`, () => {
    let bench: DriverBench;
    let target: CloudTarget;

    beforeAll(async () => {
      bench = await start({ room: ROOM, operationMs: 150 });
    });
    beforeEach(async () => {
      await bench.reset();
      hand.forget();
      target = bench.target(0);
    });
    afterAll(() => bench.close());

    const hand = driverHand(
      () => bench,
      () => target,
    );
    const { open, add, apply, addOne, addresses } = hand;

    it('takes no change of a batch for denied, and gets all of them done', async () => {
      const { id } = await addOne(open('203.0.113.1/32'));
      await bench.refuseWatching!();
      const cidrs = ['203.0.113.2/32', '203.0.113.3/32', '203.0.113.4/32'];
      const changes = [...cidrs.map((cidr) => add(open(cidr))), remove(id)];
      const first = kinds(await apply(changes));
      expect(first.at(-1)).toBe(seen);
      const told = new Set(first);
      await until('every change was made', async () => {
        if ((await addresses()).join() === '203.0.113.2,203.0.113.3,203.0.113.4') return true;
        for (const kind of kinds(await apply(changes))) told.add(kind);
        return false;
      });
      // what is tried again
      for (const kind of told) expect(['done', 'unknown', 'conflict', 'transient']).toContain(kind);
      const [only] = kinds(await apply([add(open('203.0.113.5/32'))]));
      expect(only).toBe(seen);
    });
  });
}
