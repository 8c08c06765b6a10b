import { randomUUID } from 'node:crypto';
import { DriverRegistry } from '#drivers';
import type { CloudTarget, TargetName, RuleChange } from '#drivers';
import { ruleKey, ruleSpecs, type PortsPerRule, type Provider, type RuleSpec } from '#rules';
import type { BenchOptions, DriverBench } from './driver-bench';
import { EXPIRES_AT, driverHand, hosts, kinds, opening, remove, thrown } from './driver-hand';
import { describeFaults } from './fault-conformance';

const ROOM = 60;
const PLENTY = 2000;
/** Beside the deadlines that a case may meet, on a machine with other work. */
const CASE_MS = 20_000;

/**
 * What every driver must do, whatever the provider.
 * @param provider its name
 * @param start makes a bench; called with room for few openings and with room for many
 * @param objects what it changes, where a provider has several kinds
 */
export function describeDriver(
  provider: Provider,
  start: (options: BenchOptions) => Promise<DriverBench>,
  objects = '',
): void {
  const caseMs = CASE_MS + 2 * DriverRegistry.facts(provider).traits.callTimeoutMs;

  const driverName = `${provider} driver${objects && ` of ${objects}`}`;

  describe(driverName, () => {
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
    const { open, elsewhere, others, add, apply, read, addOne, addresses } = hand;
    const portsPerRule = (): PortsPerRule =>
      DriverRegistry.facts(bench.driver.kind).resourceTypes[target.resourceType]!.portsPerRule;

    describe('adds, reads and removes', () => {
      it('opens an IPv4 address and shows it as ours', async () => {
        const { change, id } = await addOne(open('203.0.113.7/32'));
        expect(await bench.openings(target)).toEqual([
          expect.objectContaining({
            address: '203.0.113.7',
            protocol: change.spec.protocol,
            fromPort: bench.cloud.ports ? 22 : null,
            toPort: bench.cloud.ports ? 22 : null,
            ours: true,
          }),
        ]);
        expect(await read()).toEqual([
          { key: ruleKey(change.spec), providerRuleId: id, ownRuleId: change.ruleId },
        ]);
      });

      it('opens a range, and an IPv6 address where the object takes it', async () => {
        const specs = [open('2001:db8::7/128'), open('2001:db8:7::/48'), open('198.51.100.0/24')];
        const taken = bench.cloud.oneVersion ? specs.slice(2) : specs;
        const expected = specs.map((spec) => (taken.includes(spec) ? 'done' : 'invalid'));
        expect(kinds(await apply(specs.map((spec) => add(spec))))).toEqual(expected);
        expect((await read()).map(({ key }) => key).sort()).toEqual(taken.map(ruleKey).sort());
        expect(await addresses()).toEqual(taken.map(({ address }) => address.replace('/128', '')).sort());
      });

      it('opens several ports of one address', async () => {
        const specs = ruleSpecs('203.0.113.7/32', { ports: [443, 22, 80] }, portsPerRule());
        await apply(specs.map((spec) => add(spec)));
        expect((await read()).map(({ key }) => key).sort()).toEqual(specs.map(ruleKey).sort());
      });

      it.each(['tcp', 'udp', 'icmp', 'all'] as const)('opens %s without a port', async (protocol) => {
        const specs = ['203.0.113.7/32', elsewhere('2001:db8::7/128', '198.51.100.7/32')].flatMap((cidr) =>
          ruleSpecs(cidr, { protocol }, portsPerRule()),
        );
        await apply(specs.map((spec) => add(spec)));
        expect((await read()).map(({ key }) => key).sort()).toEqual(specs.map(ruleKey).sort());
      });

      it('opens a range of ports, or refuses to open everything in its place', async () => {
        const range: RuleSpec = {
          address: '203.0.113.7/32',
          protocol: 'udp',
          ports: [{ from: 6000, to: 6010 }],
        };
        if (!bench.cloud.ports) {
          expect(kinds(await apply([add(range)]))).toEqual(['invalid']);
          expect(await addresses()).toEqual([]);
          return;
        }
        const { id } = await addOne(range);
        expect(await read()).toMatchObject([{ key: '203.0.113.7/32 udp 6000-6010', providerRuleId: id }]);
      });

      it('removes what it added and nothing else', async () => {
        const { id } = await addOne(open('203.0.113.7/32'));
        await addOne(open('203.0.113.8/32'));
        expect(kinds(await apply([remove(id)]))).toEqual(['done']);
        expect(await addresses()).toEqual(['203.0.113.8']);
      });

      it('gives the results in the order of the changes', async () => {
        const { id } = await addOne(open('203.0.113.1/32'));
        const changes = [
          add(open('203.0.113.2/32', 80)),
          remove(id),
          add(open(elsewhere('2001:db8::3/128', '198.51.100.3/32'))),
          add(open('203.0.113.4/32')),
        ];
        const results = await apply(changes);
        const observed = await read();
        const expected = changes.map((change) => {
          if (change.action === 'remove') return null;
          return observed.find(({ ownRuleId }) => ownRuleId === change.ruleId)?.providerRuleId;
        });
        expect(results.map((result) => (result.result === 'done' ? result.providerRuleId : result))).toEqual(
          expected,
        );
      });

      it('makes no more calls than its cloud asks for, and reads nothing', async () => {
        const calls = <E extends string>(effect: E, changes: number): E[] =>
          Array.from({ length: bench.cloud.batch === 'call-each' ? changes : 1 }, () => effect);
        const batch = hosts(50).map((cidr) => add(open(cidr)));
        const added = await apply(batch);
        expect(kinds(added)).toEqual(batch.map(() => 'done'));
        expect(await bench.calls(target)).toEqual(calls('add', batch.length));
        const ids = added.map((result) => (result.result === 'done' ? result.providerRuleId : null) ?? '');
        const results = await apply([...ids.map(remove), add(open('203.0.113.7/32'))]);
        expect(kinds(results)).toEqual([...ids, 'add'].map(() => 'done'));
        const second = bench.cloud.batch === 'whole-list' ? [] : calls('remove', ids.length);
        expect(await bench.calls(target)).toEqual([...calls('add', batch.length), ...second, 'add']);
        expect(await addresses()).toEqual(['203.0.113.7']);
      });

      it('removes before it adds: a full object takes what its removals make room for', async () => {
        const results = await apply(hosts(ROOM).map((cidr) => add(open(cidr))));
        const [first] = results;
        if (first?.result !== 'done') throw new Error('The object was not filled');
        const changes = [add(open('198.51.100.7/32')), remove(first.providerRuleId ?? '')];
        expect(kinds(await apply(changes))).toEqual(['done', 'done']);
      });

      it('writes nothing for no changes', async () => {
        expect(await apply([])).toEqual([]);
        expect(await bench.calls(target)).toEqual([]);
      });
    });

    describe('what is there already, or no longer', () => {
      it('adds once what is added twice', async () => {
        const { id } = await addOne(open('203.0.113.7/32'));
        expect(await apply([add(open('203.0.113.7/32'))])).toEqual([{ result: 'done', providerRuleId: id }]);
        expect(await addresses()).toEqual(['203.0.113.7']);
      });

      it('adds once what one batch holds twice', async () => {
        const changes = [add(open('203.0.113.7/32')), add(open('203.0.113.7/32'))];
        const results = await apply(changes);
        expect(kinds(results)).toEqual(['done', 'done']);
        expect(results[0]).toEqual(results[1]);
        expect(await addresses()).toEqual(['203.0.113.7']);
      });

      it('adds the rest when one of several exists', async () => {
        const { id } = await addOne(open('203.0.113.7/32'));
        const results = await apply(
          ['203.0.113.6/32', '203.0.113.7/32', elsewhere('2001:db8::8/128', '203.0.113.8/32')].map((cidr) =>
            add(open(cidr)),
          ),
        );
        expect(kinds(results)).toEqual(['done', 'done', 'done']);
        expect(results[1]).toEqual({ result: 'done', providerRuleId: id });
        expect(await addresses()).toEqual(
          [elsewhere('2001:db8::8', '203.0.113.8'), '203.0.113.6', '203.0.113.7'].sort(),
        );
      });

      it('removes what is absent, and the rest with it', async () => {
        const { id } = await addOne(open('203.0.113.7/32'));
        const { id: kept } = await addOne(open('203.0.113.8/32'));
        await apply([remove(id)]);
        expect(kinds(await apply([remove(id)]))).toEqual(['done']);
        expect(kinds(await apply([remove(id), remove(kept)]))).toEqual(['done', 'done']);
        expect(await addresses()).toEqual([]);
      });
    });

    describe('unmanaged rules', () => {
      it('counts an address that an unmanaged rule lets in as done, and leaves that rule as it is', async () => {
        await bench.plant(target, { address: '203.0.113.7', port: 22, description: 'office' });
        const planted = await bench.openings(target);
        const [observed] = await read();
        expect(observed).toMatchObject({ key: ruleKey(open('203.0.113.7/32')), ownRuleId: null });
        const results = await apply([add(open('203.0.113.7/32')), add(open('203.0.113.8/32'))]);
        const unmanagedDoes = bench.cloud.oneRulePerHolder;
        if (unmanagedDoes)
          expect(results[0]).toEqual({ result: 'done', providerRuleId: observed?.providerRuleId });
        expect(kinds(results)).toEqual(['done', 'done']);
        expect((await read()).filter(({ ownRuleId }) => ownRuleId !== null)).toHaveLength(
          unmanagedDoes ? 1 : 2,
        );
        expect((await bench.openings(target)).filter(({ ours }) => !ours)).toEqual(planted);
      });

      it('takes the mark of another deployment, and texts like a mark, for unmanaged', async () => {
        const other = { ...target, deployment: 'other' };
        const change = add(open('203.0.113.7/32'), other.deployment);
        const { ruleId } = change;
        expect(kinds(await bench.driver.applyChanges(other, [change]))).toEqual(['done']);
        await bench.plant(target, {
          address: '203.0.113.8',
          port: 22,
          description: `drawbridge:${target.deployment}:${ruleId}`,
        });
        await bench.plant(target, {
          address: '203.0.113.9',
          port: 22,
          description: `drawbridge:${target.deployment}:x:never`,
        });
        const observed = await read();
        // where an address has to pass every list, what another deployment lists lets nobody in
        const isSeen = bench.cloud.batch !== 'whole-list' || bench.cloud.oneListForAll;
        expect(observed).toHaveLength(isSeen ? 3 : 2);
        expect(new Set(observed.map(({ ownRuleId }) => ownRuleId))).toEqual(new Set([null]));
      });

      it('knows its own mark again, with and without an end', async () => {
        const marks = [EXPIRES_AT, null].map((expiresAt) => ({
          deployment: target.deployment,
          ruleId: randomUUID(),
          expiresAt,
        }));
        await apply(
          marks.map((mark, index) => ({
            action: 'add',
            ruleId: mark.ruleId,
            spec: open(`203.0.113.${index}/32`),
            mark,
            config: {},
          })),
        );
        expect(new Set((await read()).map(({ ownRuleId }) => ownRuleId))).toEqual(
          new Set(marks.map(({ ruleId }) => ruleId)),
        );
      });
    });

    describe('refusals', () => {
      it('refuses a malformed opening alone', async () => {
        const specs = [
          ...hosts(4).map((cidr) => open(cidr)),
          bench.malformedSpec,
          ...others(2).map((cidr) => open(cidr)),
        ];
        const results = await apply(specs.map((spec) => add(spec)));
        expect(kinds(results)).toEqual(['done', 'done', 'done', 'done', 'invalid', 'done', 'done']);
        expect(await addresses()).toHaveLength(6);
      });

      it('adds as many as there is room for, with few calls', async () => {
        if (bench.cloud.roomByLength) {
          const { id } = await addOne(open('203.0.113.7/32'));
          await bench.bend(target, 'add', 'quota', { count: 1 });
          const changes = [add(open('203.0.113.8/32')), remove(id), add(open('203.0.113.9/32'))];
          expect(kinds(await apply(changes))).toEqual(['quota', 'done', 'quota']);
          expect(await addresses()).toEqual([]);
          expect((await bench.calls(target)).length).toBeLessThanOrEqual(3);
          return;
        }
        await apply(hosts(40).map((cidr) => add(open(cidr))));
        const more = hosts(75)
          .slice(40)
          .map((cidr) => add(open(cidr)));
        const v6 = others(3).map((cidr) => add(open(cidr)));
        const { roomByVersion, batch } = bench.cloud;
        const before = (await bench.calls(target)).length;
        const results = kinds(await apply([...more, ...v6]));
        const fitting = roomByVersion ? 23 : 20;
        expect(results.filter((kind) => kind === 'done')).toHaveLength(fitting);
        expect(results.filter((kind) => kind === 'quota')).toHaveLength(38 - fitting);
        if (roomByVersion) expect(results.slice(35)).toEqual(['done', 'done', 'done']);
        expect(await addresses()).toHaveLength(40 + fitting);
        const most = batch === 'call-each' ? fitting + 10 : 13;
        expect((await bench.calls(target)).length - before).toBeLessThanOrEqual(most);
      });

      it('refuses what finds no room at all', async () => {
        await apply(hosts(ROOM).map((cidr) => add(open(cidr))));
        if (bench.cloud.roomByLength) await bench.bend(target, 'add', 'quota', { count: 1 });
        expect(kinds(await apply([add(open('198.51.100.7/32'))]))).toEqual(['quota']);
      });

      it.each([
        ['throttle', 'throttled'],
        ['refuse', 'denied'],
        ['not-found', 'target-missing'],
      ] as const)('reports %s as %s, adds nothing, and works afterwards', async (fault, kind) => {
        await bench.bend(target, 'add', fault, { count: 1 });
        const changes = [add(open('203.0.113.7/32')), add(open('203.0.113.8/32'))];
        expect(kinds(await apply(changes))).toEqual([kind, kind]);
        expect(await addresses()).toEqual([]);
        expect(await bench.calls(target)).toEqual(['add']);
        expect(kinds(await apply(changes))).toEqual(['done', 'done']);
        await bench.bend(target, 'read', fault, { count: 1 });
        expect(await thrown(read())).toBe(kind);
      });

      it.each([
        ['throttle', 'throttled'],
        ['refuse', 'denied'],
      ] as const)('adds nothing when the removals before it meet %s', async (fault, kind) => {
        const { id } = await addOne(open('203.0.113.7/32'));
        await bench.bend(target, 'remove', fault, { count: 1 });
        expect(kinds(await apply([add(open('203.0.113.8/32')), remove(id)]))).toEqual([kind, kind]);
        expect(await addresses()).toEqual(['203.0.113.7']);
      });

      it('is denied with a wrong secret, and works with the right one at once', async () => {
        const wrong = bench.withWrongSecret(target);
        expect(await thrown(bench.driver.verify(wrong))).toBe('denied');
        expect(await thrown(read(wrong))).toBe('denied');
        expect(kinds(await apply([add(open('203.0.113.7/32'))], wrong))).toEqual(['denied']);
        expect(kinds(await apply([add(open('203.0.113.7/32'))]))).toEqual(['done']);
        expect(await thrown(read(wrong))).toBe('denied');
      });

      it('finds that an object is missing', async () => {
        const missing = bench.missingTarget();
        expect(await thrown(bench.driver.verify(missing))).toBe('target-missing');
        expect(await thrown(read(missing))).toBe('target-missing');
        expect(kinds(await apply([add(open('203.0.113.7/32'))], missing))).toEqual(['target-missing']);
      });
    });

    describe('credentials', () => {
      const check = (credential = target.credential): Promise<unknown> =>
        thrown(bench.driver.checkCredential(credential));

      it('finds the right one good', async () => {
        expect(await check()).toBe('no error');
      });

      it('is denied with a wrong secret, with the secret in no message', async () => {
        const { credential } = bench.withWrongSecret(target);
        expect(await check(credential)).toBe('denied');
        const error: unknown = await bench.driver
          .checkCredential(credential)
          .catch((reason: unknown) => reason);
        for (const [field, value] of Object.entries(credential.data)) {
          if (/secret|token|key$/i.test(field)) expect(String(error)).not.toContain(value);
        }
      });

      it('is denied with a credential that the cloud does not know', async () => {
        expect(await check(bench.unknownCredential())).toBe('denied');
      });

      it.each([
        ['throttle', 'throttled'],
        ['error', 'transient'],
        ['refuse', 'denied'],
      ] as const)('reports %s as %s, and finds it good afterwards', async (fault, kind) => {
        await bench.bendCheck(fault, { count: 1 });
        expect(await check()).toBe(kind);
        expect(await check()).toBe('no error');
      });

      it('asks anew each time', async () => {
        expect(await check()).toBe('no error');
        await bench.bendCheck('refuse', { count: 1 });
        expect(await check()).toBe('denied');
      });

      it('checks without touching an object', async () => {
        await check();
        expect(await bench.calls(target)).toEqual([]);
      });
    });

    describe('answers that do not come, or tell nothing', () => {
      it(
        'calls what was done but never answered unknown, and reading tells',
        async () => {
          const other = bench.target(1);
          const { id } = await addOne(open('203.0.113.7/32'), other);
          await bench.bend(target, 'add', 'timeout-after-success', { count: 1 });
          await bench.bend(other, 'remove', 'timeout-after-success', { count: 1 });
          const change = add(open('203.0.113.8/32'));
          const [added, removed] = await Promise.all([
            apply([change]),
            apply([remove(id), add(open('203.0.113.9/32'))], other),
          ]);
          expect(kinds(added)).toEqual(['unknown']);
          const together = bench.cloud.batch === 'whole-list';
          expect(kinds(removed)).toEqual(['unknown', together ? 'unknown' : 'transient']);
          expect(await read()).toMatchObject([{ ownRuleId: change.ruleId }]);
          expect(await addresses(other)).toEqual(together ? ['203.0.113.9'] : []);
          expect(await read(other)).toHaveLength(together ? 1 : 0);
        },
        caseMs,
      );

      it(
        'calls what was neither done nor answered unknown, and reading tells',
        async () => {
          const other = bench.target(1);
          const unread = bench.target(2);
          const { change, id } = await addOne(open('203.0.113.7/32'), other);
          await bench.bend(target, 'add', 'timeout-before', { count: 1 });
          await bench.bend(other, 'remove', 'timeout-before', { count: 1 });
          await bench.bend(unread, 'read', 'timeout-before', { count: 1 });
          const calls = [apply([add(open('203.0.113.8/32'))]), apply([remove(id)], other)] as const;
          expect(await thrown(read(unread))).toBe('transient');
          expect((await Promise.all(calls)).map(kinds)).toEqual([['unknown'], ['unknown']]);
          expect(await read()).toEqual([]);
          expect(await read(other)).toMatchObject([{ ownRuleId: change.ruleId }]);
        },
        caseMs,
      );

      it.each(['add', 'remove'] as const)(
        'calls a half-done %s unknown, and repeating it completes it',
        async (effect) => {
          const batch = hosts(5).map((cidr) => add(open(cidr)));
          const ids =
            effect === 'add'
              ? []
              : (await apply(batch)).map(
                  (result) => (result.result === 'done' ? result.providerRuleId : null) ?? '',
                );
          const changes = effect === 'add' ? batch : ids.map(remove);
          await bench.bend(target, effect, 'partial', { count: 1 });
          const isWhole = bench.cloud.batch !== 'call-each';
          // a call for each: what comes after the failed one was not sent
          expect(kinds(await apply(changes))).toEqual(
            changes.map((_, index) => (isWhole || index === 0 ? 'unknown' : 'transient')),
          );
          const left = isWhole ? [2, 3] : [effect === 'add' ? 1 : 4];
          // a cloud may carry out in a while what it has taken: reading waits for that
          await read();
          expect(left).toContain((await addresses()).length);
          expect(kinds(await apply(changes))).toEqual(changes.map(() => 'done'));
          expect(await addresses()).toHaveLength(effect === 'add' ? 5 : 0);
        },
      );

      it('calls a write that failed inside the provider unknown, and a read transient', async () => {
        await bench.bend(target, 'add', 'error', { count: 1 });
        expect(kinds(await apply([add(open('203.0.113.7/32'))]))).toEqual(['unknown']);
        await bench.bend(target, 'read', 'error', { count: 1 });
        expect(await thrown(read())).toBe('transient');
      });

      it('waits for a slow answer', async () => {
        await bench.bend(target, 'add', 'slow', { count: 1, delayMs: 300 });
        expect(kinds(await apply([add(open('203.0.113.7/32'))]))).toEqual(['done']);
      });
    });

    describe('objects', () => {
      it('verifies without changing anything', async () => {
        await addOne(open('203.0.113.7/32'));
        const before = await bench.openings(target);
        await bench.driver.verify(target);
        expect(await bench.openings(target)).toEqual(before);
      });

      it.each(['read', 'add', 'remove'] as const)('verifies nothing that may not %s', async (effect) => {
        // some clouds tell only of a rule that stands what may be done with rules
        await addOne(open('203.0.113.7/32'));
        const before = await bench.openings(target);
        await bench.bend(target, effect, 'refuse');
        const isUntold = effect !== 'read' && bench.cloud.writeTellsAlone;
        expect(await thrown(bench.driver.verify(target))).toBe(isUntold ? 'no error' : 'denied');
        if (isUntold) expect(kinds(await apply([add(open('198.51.100.1/32'))]))).toEqual(['denied']);
        expect(await bench.openings(target)).toEqual(before);
      });

      it('has one name for an object, however it is spelled, and another for another', () => {
        const { resourceType, identifier } = target;
        const { place } = DriverRegistry.facts(bench.driver.kind).resourceTypes[resourceType]!;
        const placed = (spelled: string): TargetName =>
          place({ identifier: spelled, config: {}, organization: 'any', hints: target.credential.data });
        const { respelled = (text: string) => text.toUpperCase() } = bench;
        expect(placed(respelled(identifier))).toEqual(placed(identifier));
        expect(placed(identifier).identifier).toBe(identifier);
        expect(placed(bench.target(1).identifier).key).not.toBe(placed(identifier).key);
        expect(placed(identifier).key.startsWith(`${bench.driver.kind}:`)).toBe(true);
      });

      it('names the account without giving the secret away', () => {
        const name = bench.driver.accountKey(target);
        expect(bench.driver.accountKey(bench.target(1))).toBe(name);
        for (const [field, value] of Object.entries(target.credential.data)) {
          if (/secret|token|key$/i.test(field)) expect(name).not.toContain(value);
        }
      });
    });
  });

  describeFaults(`${driverName} when its cloud misbehaves`, start, caseMs);

  describe(`${driverName} with a large object`, () => {
    let bench: DriverBench;
    beforeAll(async () => {
      bench = await start({ room: PLENTY });
    });
    afterAll(() => bench.close());

    it(
      'reads every page',
      async () => {
        const target = bench.target(0);
        // more than any cloud shows on one page, and no more calls than it takes
        const count = bench.cloud.batch === 'call-each' ? 600 : 1100;
        const specs = hosts(count).map((cidr) => opening(bench.cloud, cidr));
        const { batchSize } = bench.driver.traits;
        for (let from = 0; from < specs.length; from += batchSize) {
          const batch = specs.slice(from, from + batchSize).map((spec): RuleChange => {
            const ruleId = randomUUID();
            return {
              action: 'add',
              ruleId,
              spec,
              mark: { deployment: target.deployment, ruleId, expiresAt: null },
              config: {},
            };
          });
          const results = await bench.driver.applyChanges(target, batch);
          expect(results.filter(({ result }) => result !== 'done')).toEqual([]);
        }
        const observed = await bench.driver.readRules(target);
        expect(new Set(observed.map(({ key }) => key))).toEqual(new Set(specs.map(ruleKey)));
        expect(observed).toHaveLength(specs.length);
      },
      caseMs,
    );
  });
}
