import { randomUUID } from 'node:crypto';
import { formatMark } from '#rules';
import {
  LIST,
  MODIFY,
  DESCRIBE,
  READ,
  list,
  host,
  hosts,
  add,
  idOf,
  withoutLength,
  PrefixListBench,
} from './aws-prefix-list-bench';
import { kinds, remove } from './driver-actions';

/** EC2's versions make changes of a prefix list compare-and-set: a change applies to the version that was read. */
describe('The versions of an AWS prefix list', () => {
  let bench: PrefixListBench;

  beforeAll(async () => {
    bench = await PrefixListBench.start({ entriesPerList: 300, listChangeMs: 20 });
  });
  beforeEach(async () => {
    await fetch(`${bench.cloud.url}/_reset`, { method: 'POST' });
  });
  afterAll(() => bench.close());

  describe('concurrent writers', () => {
    it.each([
      ['read', READ],
      ['modified', MODIFY],
    ])(
      'that change the list while it is %s cause a conflict, and their change is kept',
      async (_, operation) => {
        await bench.injectFault({ operation, kind: 'slow', delayMs: 400 });
        const applied = bench.apply(add(host(1)), add(host(2)));
        await bench.arrived(operation);
        await bench.addUnmanaged('198.51.100.7');
        expect(kinds(await applied)).toEqual(['conflict', 'conflict']);
        expect(await bench.addresses()).toEqual(['198.51.100.7']);
        expect(kinds(await bench.apply(add(host(1)), add(host(2))))).toEqual(['done', 'done']);
        expect(await bench.addresses()).toEqual([
          '198.51.100.7',
          withoutLength(host(1)),
          withoutLength(host(2)),
        ]);
      },
    );

    it.each([READ, MODIFY])(
      'keep ownership of the entry that they add during %s, even if we add the same one',
      async (operation) => {
        await bench.injectFault({ operation, kind: 'slow', delayMs: 400 });
        const applied = bench.apply(add(host(1)));
        await bench.arrived(operation);
        await bench.addUnmanaged(withoutLength(host(1)));
        expect(kinds(await applied)).toEqual(['conflict']);
        expect((await bench.driver.readRules(list())).rules).toMatchObject([{ ownRuleId: null }]);
        expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
        expect((await bench.driver.readRules(list())).rules).toMatchObject([{ ownRuleId: null }]);
      },
    );

    it('do not affect a read in progress: it returns one consistent version', async () => {
      expect(new Set(kinds(await bench.apply(...hosts(150).map((cidr) => add(cidr)))))).toEqual(
        new Set(['done']),
      );
      await bench.injectFault({ operation: READ, kind: 'slow', delayMs: 400 });
      const reading = bench.driver.readRules(list());
      await bench.arrived(READ);
      await bench.cloud.removeByHand(LIST, withoutLength(host(0)));
      expect((await reading).rules).toHaveLength(150);
      expect((await bench.driver.readRules(list())).rules).toHaveLength(149);
    });
  });

  describe('API calls', () => {
    it('contain a hundred entries at most, and each is based on the previous version', async () => {
      const added = await bench.apply(...hosts(250).map((cidr) => add(cidr)));
      expect(new Set(kinds(added))).toEqual(new Set(['done']));
      expect(await bench.changes()).toEqual([100, 100, 50]);
      const removed = await bench.apply(add(host(250)), ...added.map((result) => remove(idOf(result))));
      expect(new Set(kinds(removed))).toEqual(new Set(['done']));
      expect((await bench.changes()).slice(3)).toEqual([100, 100, 51]);
      expect(await bench.addresses()).toEqual([withoutLength(host(250))]);
    });

    it('stop after a conflict', async () => {
      await bench.injectFault({ operation: MODIFY, kind: 'conflict' });
      const results = await bench.apply(...hosts(150).map((cidr) => add(cidr)));
      expect(new Set(kinds(results))).toEqual(new Set(['conflict']));
      expect(await bench.changes()).toEqual([100]);
      expect(await bench.addresses()).toEqual([]);
    });

    it('include removals of missing entries, because the read may be stale', async () => {
      const ids = (await bench.apply(add(host(1)), add(host(2)))).map(idOf);
      await bench.injectFault({ operation: DESCRIBE, kind: 'stale-read', delayMs: 600_000 });
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['conflict', 'conflict']);
      expect(await bench.addresses()).toHaveLength(2);
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['done', 'done']);
      expect(await bench.addresses()).toEqual([]);
    });

    it('that remove absent entries succeed, alone or with others', async () => {
      const ids = (await bench.apply(...hosts(3).map((cidr) => add(cidr)))).map(idOf);
      await bench.apply(...ids.slice(0, 2).map(remove));
      const before = (await bench.changes()).length;
      expect(kinds(await bench.apply(...ids.slice(0, 2).map(remove)))).toEqual(['done', 'done']);
      expect((await bench.changes()).slice(before)).toEqual([1, 1]);
      expect(kinds(await bench.apply(...ids.map(remove)))).toEqual(['done', 'done', 'done']);
      // a successful change of the version that was read proves that it was current
      expect((await bench.changes()).slice(before + 2)).toEqual([1]);
    });
  });

  describe('entries', () => {
    it('that another deployment added have another id and are not removed', async () => {
      const [earlier] = await bench.apply(add(host(1)));
      await bench.apply(remove(idOf(earlier)));
      const theirs = formatMark({ deployment: 'other', ruleId: randomUUID(), expiresAt: null });
      await bench.addUnmanaged(withoutLength(host(1)), theirs);
      expect((await bench.driver.readRules(list())).rules).toMatchObject([
        { providerRuleId: `${LIST}/${host(1)}#other`, ownRuleId: null },
      ]);
      expect(kinds(await bench.apply(remove(idOf(earlier))))).toEqual(['done']);
      expect(await bench.addresses()).toEqual([withoutLength(host(1))]);
    });

    it('of one rule can be replaced by another rule with the same address', async () => {
      const [earlier] = await bench.apply(add(host(1)));
      const later = add(host(1));
      expect(kinds(await bench.apply(later, remove(idOf(earlier))))).toEqual(['done', 'done']);
      expect((await bench.driver.readRules(list())).rules).toMatchObject([{ ownRuleId: later.ruleId }]);
    });

    it('that do not fit are refused with the list’s maximum, without a call', async () => {
      await bench.apply(...hosts(300).map((cidr) => add(cidr)));
      const before = (await bench.changes()).length;
      const [result] = await bench.apply(add('198.51.100.7/32'));
      expect(result).toMatchObject({
        kind: 'quota',
        message: `${LIST} is full: its maximum is 300 entries (MaxEntries)`,
      });
      expect(await bench.changes()).toHaveLength(before);
    });
  });

  describe('accepted changes that do not complete', () => {
    it('are unknown with EC2’s message when they fail later, and can be retried', async () => {
      await bench.injectFault({ operation: MODIFY, kind: 'fail-later' });
      const [result] = await bench.apply(add(host(1)));
      expect(result).toEqual({
        result: 'unknown',
        message: 'modify-failed: The prefix list could not be modified.',
      });
      expect((await bench.driver.readRules(list())).rules).toEqual([]);
      expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
    });

    it('are unknown when the list can no longer be read', async () => {
      await bench.injectFault({ operation: MODIFY, kind: 'slow', delayMs: 300 });
      const applied = bench.apply(add(host(1)));
      await bench.arrived(MODIFY);
      await bench.injectFault({ operation: DESCRIBE, kind: 'refuse' });
      expect(kinds(await applied)).toEqual(['unknown']);
      expect((await bench.driver.readRules(list())).rules).toHaveLength(1);
    });
  });
});

describe('An AWS prefix list whose changes take longer than a call may take', () => {
  let bench: PrefixListBench;

  beforeAll(async () => {
    bench = await PrefixListBench.start({ listChangeMs: 600_000 });
  });
  afterAll(() => bench.close());

  it('has an unknown outcome, and can be neither read nor written meanwhile, by any writer', async () => {
    await bench.injectFault({ operation: MODIFY, kind: 'slow', delayMs: 400 });
    const applied = bench.apply(add(host(1)));
    await bench.arrived(MODIFY);
    const answers = await Promise.all([bench.addByOtherDeployment('198.51.100.7/32'), applied]);
    const refused = expect.stringContaining('IncorrectState') as unknown;
    expect(answers).toMatchObject([['unknown'], [{ result: 'refused', kind: 'conflict', message: refused }]]);
    const message = `${LIST} is being changed right now`;
    await Promise.all([
      expect(bench.driver.readRules(list())).rejects.toMatchObject({ kind: 'conflict', message }),
      expect(bench.apply(add(host(2)))).rejects.toMatchObject({ kind: 'conflict' }),
      bench.driver.verify(list(), {}),
    ]);
    expect(await bench.changes()).toEqual([1, 1, 1]);
  });
});
