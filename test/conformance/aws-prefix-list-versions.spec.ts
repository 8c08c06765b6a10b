import { randomUUID } from 'node:crypto';
import { DriverRegistry, type ProviderDriver } from '#drivers';
import { formatMark } from '#rules';
import {
  LIST,
  IPV6_LIST,
  LIST_OF_AWS,
  MODIFY,
  DESCRIBE,
  READ,
  list,
  host,
  hosts,
  add,
  remove,
  kinds,
  idOf,
  withoutLength,
  thrown,
  PrefixListBench,
} from './aws-prefix-list-bench';

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

    it('are serialized by conflicts', async () => {
      const write = async (driver: ProviderDriver, deployment: string, cidrs: string[]): Promise<number> => {
        for (let refused = 0; ; refused += 1) {
          const changes = cidrs.map((cidr) => add(cidr, deployment));
          const results = kinds(await driver.applyChanges(list(LIST, deployment), changes));
          if (results.every((kind) => kind === 'done')) return refused;
          expect(new Set(results)).toEqual(new Set(['conflict']));
        }
      };
      const sets = Array.from({ length: 6 }, (_, index) => hosts(5, 10 * index));
      await Promise.all([
        ...sets.slice(0, 3).map((cidrs) => write(bench.driver, 'test', cidrs)),
        ...sets.slice(3).map((cidrs) => write(bench.another, 'other', cidrs)),
      ]);
      expect(await bench.addresses()).toEqual(sets.flat().map(withoutLength).sort());
      const ours = (await bench.driver.readRules(list())).rules.filter(({ ownRuleId }) => ownRuleId !== null);
      expect(ours).toHaveLength(15);
    });

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

    it('are not made when every entry exists', async () => {
      await bench.apply(add(host(1)));
      expect(kinds(await bench.apply(add(host(1))))).toEqual(['done']);
      expect(await bench.changes()).toEqual([1]);
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
    it('carry the mark as description and are identified by address, even if the description is edited', async () => {
      const change = add(host(1));
      const [result] = await bench.apply(change);
      const mark = formatMark(change.mark);
      expect(idOf(result)).toBe(`${LIST}/${host(1)}`);
      await bench.cloud.changeByHand(LIST, withoutLength(host(1)), { description: `${mark} edited` });
      expect((await bench.driver.readRules(list())).rules).toMatchObject([
        { providerRuleId: idOf(result), ownRuleId: null },
      ]);
      expect(kinds(await bench.apply(remove(idOf(result))))).toEqual(['done']);
      expect(await bench.addresses()).toEqual([]);
    });

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

    it('of the other IP version are refused individually with an explanation', async () => {
      const results = await bench.driver.applyChanges(list(IPV6_LIST), [
        add(host(1)),
        add('2001:db8::7/128'),
      ]);
      expect(kinds(results)).toEqual(['wrong-family', 'done']);
      expect(results[0]).toMatchObject({
        message: `${IPV6_LIST} is a list of IPv6 addresses: ${host(1)} cannot be in it`,
      });
      expect(await bench.addresses(IPV6_LIST)).toEqual(['2001:db8::7']);
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

  it('needs exactly the permissions of the documented policy', async () => {
    await bench.driver.verify(list(), {});
    const [result] = await bench.apply(add(host(1)));
    await bench.apply(remove(idOf(result)));
    const { policy } = DriverRegistry.facts('AWS').resourceTypes['PREFIX_LIST']!;
    const { Statement } = JSON.parse(policy) as { Statement: { Sid: string; Action: string[] }[] };
    const allowed = Statement.find(({ Sid }) => Sid === 'PrefixLists')!.Action;
    const operations = (await bench.cloud.calls()).map(({ operation }) => `ec2:${operation}`);
    expect([...new Set(operations)].sort()).toEqual(allowed);
  });

  it('is refused by verify when AWS manages the list', async () => {
    const error = await thrown(bench.driver.verify(list(LIST_OF_AWS), {}));
    expect(error).toMatchObject({
      kind: 'invalid',
      message: `${LIST_OF_AWS} is managed by AWS (com.amazonaws.eu-central-1.s3) and cannot be changed`,
    });
    expect(await bench.changes()).toEqual([]);
  });
});
