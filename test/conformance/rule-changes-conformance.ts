import { DriverRegistry } from '#drivers';
import { OwnRules, ruleKey, ruleSpecs, type PortsPerRule, type RuleSpec } from '#rules';
import { hosts, kinds, remove, type AddChange } from './driver-actions';
import { isEach, type CloudRule, type Effect } from './driver-bench';
import { CAPACITY, type DriverSuite } from './driver-suite';

/** Adding, reading and removing rules. */
export function describeRuleChanges(suite: DriverSuite): void {
  const { specOf, v6OrV4, add, apply, read, addOne, addresses } = suite.actions;
  const portsPerRule = (): PortsPerRule =>
    DriverRegistry.facts(suite.bench.driver.kind).resourceTypes[suite.target.resourceType]!.portsPerRule;

  describe('rule changes', () => {
    it('adds a rule for an IPv4 address and reads it as ours', async () => {
      const { change, id } = await addOne(specOf('203.0.113.7/32'));
      expect(await suite.bench.rules(suite.target)).toEqual([
        expect.objectContaining({
          address: '203.0.113.7',
          protocol: change.spec.protocol,
          fromPort: suite.bench.cloud.ports ? 22 : null,
          toPort: suite.bench.cloud.ports ? 22 : null,
          ours: true,
        }),
      ]);
      expect(await read()).toEqual([
        { key: ruleKey(change.spec), providerRuleId: id, ownRuleId: change.ruleId },
      ]);
    });

    it('adds rules for a range and, where supported, for an IPv6 address', async () => {
      const specs = [specOf('2001:db8::7/128'), specOf('2001:db8:7::/48'), specOf('198.51.100.0/24')];
      const taken = suite.bench.cloud.singleIpVersion ? specs.slice(2) : specs;
      const expected = specs.map((spec) => (taken.includes(spec) ? 'done' : 'wrong-family'));
      expect(kinds(await apply(specs.map((spec) => add(spec))))).toEqual(expected);
      expect((await read()).map(({ key }) => key).sort()).toEqual(taken.map(ruleKey).sort());
      expect(await addresses()).toEqual(taken.map(({ address }) => address.replace('/128', '')).sort());
    });

    it('adds rules for several ports of one address', async () => {
      const specs = ruleSpecs('203.0.113.7/32', { ports: [443, 22, 80] }, portsPerRule());
      await apply(specs.map((spec) => add(spec)));
      expect((await read()).map(({ key }) => key).sort()).toEqual(specs.map(ruleKey).sort());
    });

    it.each(['tcp', 'udp', 'icmp', 'all'] as const)(
      'adds a rule for protocol %s without a port',
      async (protocol) => {
        const specs = ['203.0.113.7/32', v6OrV4('2001:db8::7/128', '198.51.100.7/32')].flatMap((cidr) =>
          ruleSpecs(cidr, { protocol }, portsPerRule()),
        );
        await apply(specs.map((spec) => add(spec)));
        expect((await read()).map(({ key }) => key).sort()).toEqual(specs.map(ruleKey).sort());
      },
    );

    it('adds a rule for a port range, or refuses it where rules have no ports', async () => {
      const range: RuleSpec = {
        address: '203.0.113.7/32',
        protocol: 'udp',
        ports: [{ from: 6000, to: 6010 }],
      };
      if (!suite.bench.cloud.ports) {
        expect(kinds(await apply([add(range)]))).toEqual(['invalid']);
        expect(await addresses()).toEqual([]);
        return;
      }
      const { id } = await addOne(range);
      expect(await read()).toMatchObject([{ key: '203.0.113.7/32 udp 6000-6010', providerRuleId: id }]);
    });

    it('returns the results in the order of the changes', async () => {
      const { id } = await addOne(specOf('203.0.113.1/32'));
      const changes = [
        add(specOf('203.0.113.2/32', 80)),
        remove(id),
        add(specOf(v6OrV4('2001:db8::3/128', '198.51.100.3/32'))),
        add(specOf('203.0.113.4/32')),
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

    it('makes the minimum number of calls', async () => {
      const calls = (effect: Effect, changes: number): Effect[] =>
        Array.from({ length: isEach(suite.bench.cloud, effect) ? changes : 1 }, () => effect);
      const batch = hosts(50).map((cidr) => add(specOf(cidr)));
      const added = await apply(batch);
      expect(kinds(added)).toEqual(batch.map(() => 'done'));
      expect(await suite.bench.calls(suite.target)).toEqual(calls('add', batch.length));
      const ids = added.map((result) => (result.result === 'done' ? result.providerRuleId : null) ?? '');
      const results = await apply([...ids.map(remove), add(specOf('203.0.113.7/32'))]);
      expect(kinds(results)).toEqual([...ids, 'add'].map(() => 'done'));
      const second = suite.bench.cloud.batch === 'whole-list' ? [] : calls('remove', ids.length);
      expect(await suite.bench.calls(suite.target)).toEqual([
        ...calls('add', batch.length),
        ...second,
        'add',
      ]);
      expect(await addresses()).toEqual(['203.0.113.7']);
    });

    it('applies removals first, so that additions fit in a full target', async () => {
      const results = await apply(hosts(CAPACITY).map((cidr) => add(specOf(cidr))));
      const [first] = results;
      if (first?.result !== 'done') throw new Error('The object was not filled');
      const changes = [add(specOf('198.51.100.7/32')), remove(first.providerRuleId ?? '')];
      expect(kinds(await apply(changes))).toEqual(['done', 'done']);
    });

    it('makes no call without changes', async () => {
      expect(await apply([])).toEqual([]);
      expect(await suite.bench.calls(suite.target)).toEqual([]);
    });
  });

  describe('existing and absent rules', () => {
    it('adding an existing rule succeeds and creates no duplicate', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      expect(await apply([add(specOf('203.0.113.7/32'))])).toEqual([{ result: 'done', providerRuleId: id }]);
      expect(await addresses()).toEqual(['203.0.113.7']);
    });

    it('adding a rule twice in one batch creates no duplicate', async () => {
      const changes = [add(specOf('203.0.113.7/32')), add(specOf('203.0.113.7/32'))];
      const results = await apply(changes);
      expect(kinds(results)).toEqual(['done', 'done']);
      expect(results[0]).toEqual(results[1]);
      expect(await addresses()).toEqual(['203.0.113.7']);
    });

    it('adds the other rules of a batch when one exists', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      const results = await apply(
        ['203.0.113.6/32', '203.0.113.7/32', v6OrV4('2001:db8::8/128', '203.0.113.8/32')].map((cidr) =>
          add(specOf(cidr)),
        ),
      );
      expect(kinds(results)).toEqual(['done', 'done', 'done']);
      expect(results[1]).toEqual({ result: 'done', providerRuleId: id });
      expect(await addresses()).toEqual(
        [v6OrV4('2001:db8::8', '203.0.113.8'), '203.0.113.6', '203.0.113.7'].sort(),
      );
    });

    it('removing an absent rule succeeds, alone and in a batch', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      const { id: kept } = await addOne(specOf('203.0.113.8/32'));
      await apply([remove(id)]);
      // what does not find it may be late, except where the cloud proves its answer
      const { provesAbsence } = suite.bench.cloud;
      expect(await apply([remove(id)])).toEqual([
        { result: 'done', providerRuleId: null, ...(!provesAbsence && { wasAbsent: true }) },
      ]);
      expect(kinds(await apply([remove(id), remove(kept)]))).toEqual(['done', 'done']);
      expect(await addresses()).toEqual([]);
    });
  });

  describe('rules of ours that another program changed', () => {
    const address = '203.0.113.7';
    /** Runs a test for each change of a field, with our mark and without it. */
    const forEachChange = async (
      test: (what: string, added: { change: AddChange; id: string }) => Promise<void>,
    ): Promise<void> => {
      for (const edit of suite.bench.changes)
        for (const made of [edit, { ...edit, description: 'office' }]) {
          await suite.bench.reset();
          suite.actions.forget();
          const added = await addOne(specOf(`${address}/32`));
          await suite.bench.edit!(suite.target, address, made);
          await test(JSON.stringify(made), added);
        }
    };
    const changeOf = async ({ change, id }: { change: AddChange; id: string }): Promise<string | null> =>
      new OwnRules(await read()).changeOf({
        ruleId: change.ruleId,
        key: ruleKey(change.spec),
        recordedId: id,
      });

    it('are shown as changed, and written again as they were', async () => {
      const { change: only, id } = await addOne(specOf(`${address}/32`));
      const written = await suite.bench.rules(suite.target);
      expect(await changeOf({ change: only, id })).toBeNull();
      await forEachChange(async (what, added) => {
        expect([what, await changeOf(added)]).toEqual([what, expect.any(String)]);
        const again = { ...added.change, replaces: [added.id] };
        const [result] = await apply([again]);
        if (result?.result !== 'done') throw new Error(`${what}: ${JSON.stringify(result)}`);
        const now = { change: added.change, id: result.providerRuleId ?? '' };
        expect([what, await changeOf(now)]).toEqual([what, null]);
        const shape = ({ protocol, fromPort, toPort, ours }: CloudRule): unknown[] => [
          protocol,
          fromPort,
          toPort,
          ours,
        ];
        expect([what, (await suite.bench.rules(suite.target)).map(shape)]).toEqual([
          what,
          written.map(shape),
        ]);
        expect(await addresses()).toEqual([address]);
      });
    });

    it('are removed by their recorded ids', async () => {
      await forEachChange(async (what, { id }) => {
        expect([what, kinds(await apply([remove(id)]))]).toEqual([what, ['done']]);
        expect([what, await read()]).toEqual([what, []]);
        expect(await addresses()).toEqual([]);
      });
    });
  });
}
