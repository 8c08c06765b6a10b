import type { CloudTarget } from '#drivers';
import { DriverError } from '#drivers';
import type { BenchOptions, DriverBench } from './driver-bench';
import { driverHand, kinds, remove } from './driver-hand';

const ROOM = 60;

/** What every driver must do when its cloud answers oddly, late, or of another time. */
export function describeFaults(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
  caseMs: number,
): void {
  describe(name, () => {
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
    const ours = async (): Promise<(string | null)[]> => (await read()).map(({ ownRuleId }) => ownRuleId);

    describe.each(['html-page', 'oversized', 'truncated', 'error-in-success'] as const)('%s', (fault) => {
      it(
        'in answer to a write says neither that it was done nor that it was not',
        async () => {
          const { change, id } = await addOne(open('203.0.113.7/32'));
          await bench.bend(target, 'add', fault, { count: 1 });
          const added = add(open('203.0.113.8/32'));
          expect(kinds(await apply([added]))).toEqual(['unknown']);
          await bench.bend(target, 'remove', fault, { count: 1 });
          const [removed] = kinds(await apply([remove(id)]));
          // of an answer that has no body there is nothing to spoil
          if (removed === 'done') expect(await addresses()).not.toContain('203.0.113.7');
          else expect(removed).toBe('unknown');
          // told by reading alone, and repeated to the same end
          expect(kinds(await apply([remove(id), added]))).toEqual(['done', 'done']);
          expect(await ours()).toEqual([added.ruleId]);
          expect(await ours()).not.toContain(change.ruleId);
          expect(await addresses()).toEqual(['203.0.113.8']);
        },
        caseMs,
      );

      it(
        'in answer to a read is no empty object',
        async () => {
          await addOne(open('203.0.113.7/32'));
          await bench.bend(target, 'read', fault, { count: 1 });
          await expect(read()).rejects.toMatchObject({ kind: 'transient' });
          expect(await read()).toHaveLength(1);
        },
        caseMs,
      );
    });

    it('when it is throttled tells how long to wait, where the cloud says so', async () => {
      const throttled = async (delayMs: number | undefined): Promise<number | null> => {
        await bench.bend(target, 'read', 'throttle', { count: 1, ...(delayMs !== undefined && { delayMs }) });
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
      'a look of another time closes nothing in the books, and opens nothing twice',
      async () => {
        const { change } = await addOne(open('203.0.113.7/32'));
        const longAgo = { count: 1, delayMs: 500_000 };
        await bench.bend(target, 'read', 'stale-read', longAgo);
        const [again] = kinds(await apply([change]));
        expect(await addresses()).toEqual(['203.0.113.7']);
        expect(again).not.toBe('invalid');
        await bench.reset();
        hand.forget();
        const { id: second } = await addOne(open('203.0.113.7/32'));
        await bench.bend(target, 'read', 'stale-read', longAgo);
        const [removed] = kinds(await apply([remove(second)]));
        // a list that is written as a whole is made of the look: that it still stands is for the next one to tell
        if (removed === 'done' && bench.cloud.batch !== 'whole-list') expect(await addresses()).toEqual([]);
        expect((await read()).length).toBe((await addresses()).length);
        expect(kinds(await apply([remove(second)]))).toEqual(['done']);
        expect(await addresses()).toEqual([]);
      },
      caseMs,
    );

    it(
      'a write that is accepted and fails afterwards is not done, and can be repeated',
      async () => {
        await bench.bend(target, 'add', 'fail-later', { count: 1 });
        const change = add(open('203.0.113.7/32'));
        expect(kinds(await apply([change]))).not.toContain('done');
        expect(await addresses()).toEqual([]);
        expect(kinds(await apply([change]))).toEqual(['done']);
        expect(await ours()).toEqual([change.ruleId]);
      },
      caseMs,
    );

    it(
      'a conflict with another writer changes nothing but what is told as done, and passes',
      async () => {
        await bench.bend(target, 'add', 'conflict', { count: 1 });
        const change = add(open('203.0.113.7/32'));
        const [told] = kinds(await apply([change]));
        expect(['conflict', 'done']).toContain(told);
        expect(await addresses()).toEqual(told === 'done' ? ['203.0.113.7'] : []);
        expect(kinds(await apply([change]))).toEqual(['done']);
        expect(await addresses()).toEqual(['203.0.113.7']);
      },
      caseMs,
    );

    it('the last address out opens the object to nobody', async () => {
      const { id } = await addOne(open('203.0.113.7/32'));
      expect(kinds(await apply([remove(id)]))).toEqual(['done']);
      expect(await ours()).toEqual([]);
      // a cloud whose empty list lets everybody in shows that as an opening to anywhere
      expect(await addresses()).toEqual([]);
    });

    it('what another hand puts in between a look and a write stays', async () => {
      const { id } = await addOne(open('203.0.113.7/32'));
      await read();
      await bench.plant(target, { address: '198.51.100.9', port: 4242 });
      expect(kinds(await apply([remove(id), add(open('203.0.113.8/32'))]))).toEqual(['done', 'done']);
      const standing = await bench.openings(target);
      expect(standing.filter(({ ours: isOurs }) => !isOurs).map(({ address }) => address)).toEqual([
        '198.51.100.9',
      ]);
      expect(await addresses()).toContain('203.0.113.8');
    });
  });
}
