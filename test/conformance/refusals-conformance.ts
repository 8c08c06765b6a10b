import { hosts, kinds, remove, thrown } from './driver-actions';
import { type DriverSuite } from './driver-suite';

/** Changes that the cloud refuses. */
export function describeRefusals(suite: DriverSuite): void {
  const { specOf, otherHosts, add, apply, read, addOne, addresses } = suite.actions;

  describe('refusals', () => {
    it('refuses a malformed RuleSpec without affecting the others', async () => {
      const specs = [
        ...hosts(4).map((cidr) => specOf(cidr)),
        suite.bench.malformedSpec,
        ...otherHosts(2).map((cidr) => specOf(cidr)),
      ];
      const results = await apply(specs.map((spec) => add(spec)));
      expect(kinds(results)).toEqual(['done', 'done', 'done', 'done', 'invalid', 'done', 'done']);
      expect(await addresses()).toHaveLength(6);
    });

    it('adds as many rules as fit, with few calls', async () => {
      if (suite.bench.cloud.capacityByLength) {
        const { id } = await addOne(specOf('203.0.113.7/32'));
        await suite.bench.injectFault(suite.target, 'add', 'quota', { count: 1 });
        const changes = [add(specOf('203.0.113.8/32')), remove(id), add(specOf('203.0.113.9/32'))];
        expect(kinds(await apply(changes))).toEqual(['quota', 'done', 'quota']);
        expect(await addresses()).toEqual([]);
        expect((await suite.bench.calls(suite.target)).length).toBeLessThanOrEqual(3);
        return;
      }
      await apply(hosts(40).map((cidr) => add(specOf(cidr))));
      const more = hosts(75)
        .slice(40)
        .map((cidr) => add(specOf(cidr)));
      const v6 = otherHosts(3).map((cidr) => add(specOf(cidr)));
      const { capacityPerIpVersion, batch } = suite.bench.cloud;
      const before = (await suite.bench.calls(suite.target)).length;
      const results = kinds(await apply([...more, ...v6]));
      const fitting = capacityPerIpVersion ? 23 : 20;
      expect(results.filter((kind) => kind === 'done')).toHaveLength(fitting);
      expect(results.filter((kind) => kind === 'quota')).toHaveLength(38 - fitting);
      if (capacityPerIpVersion) expect(results.slice(35)).toEqual(['done', 'done', 'done']);
      expect(await addresses()).toHaveLength(40 + fitting);
      const most = batch === 'call-each' ? fitting + 10 : 13;
      expect((await suite.bench.calls(suite.target)).length - before).toBeLessThanOrEqual(most);
    });

    it.each([
      ['throttle', 'throttled'],
      ['refuse', 'denied'],
      ['not-found', 'target-missing'],
    ] as const)('reports %s as %s, adds nothing, and succeeds afterwards', async (fault, kind) => {
      await suite.bench.injectFault(suite.target, 'add', fault, { count: 1 });
      const changes = [add(specOf('203.0.113.7/32')), add(specOf('203.0.113.8/32'))];
      expect(kinds(await apply(changes))).toEqual([kind, kind]);
      expect(await addresses()).toEqual([]);
      expect(await suite.bench.calls(suite.target)).toEqual(['add']);
      expect(kinds(await apply(changes))).toEqual(['done', 'done']);
      await suite.bench.injectFault(suite.target, 'read', fault, { count: 1 });
      expect(await thrown(read())).toBe(kind);
    });

    it.each([
      ['throttle', 'throttled'],
      ['refuse', 'denied'],
    ] as const)('adds only what it may when the removals fail with %s', async (fault, kind) => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await suite.bench.injectFault(suite.target, 'remove', fault, { count: 1 });
      const results = kinds(await apply([add(specOf('203.0.113.8/32')), remove(id)]));
      // a denial concerns one operation; a list is written by one
      const isAdded = kind === 'denied' && suite.bench.cloud.batch !== 'whole-list';
      expect(results).toEqual([isAdded ? 'done' : kind, kind]);
      expect(await addresses()).toEqual(['203.0.113.7', ...(isAdded ? ['203.0.113.8'] : [])]);
    });

    it('is denied with a wrong secret and succeeds with the right one immediately', async () => {
      const wrong = suite.bench.withWrongSecret(suite.target);
      expect(await thrown(suite.bench.driver.verify(wrong, {}))).toBe('denied');
      expect(await thrown(read(wrong))).toBe('denied');
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))], wrong))).toEqual(['denied']);
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))]))).toEqual(['done']);
      expect(await thrown(read(wrong))).toBe('denied');
    });

    it('reports a missing target', async () => {
      const missing = suite.bench.missingTarget();
      expect(await thrown(suite.bench.driver.verify(missing, {}))).toBe('target-missing');
      expect(await thrown(read(missing))).toBe('target-missing');
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))], missing))).toEqual(['target-missing']);
    });
  });
}
