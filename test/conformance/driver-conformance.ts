import { DriverRegistry } from '#drivers';
import { ruleKey, type Provider } from '#rules';
import { describeAccess } from './access-conformance';
import { addition, hosts, ruleSpecFor } from './driver-actions';
import type { BenchOptions, DriverBench } from './driver-bench';
import { CAPACITY, driverSuite } from './driver-suite';
import { describeFaults } from './fault-conformance';
import { describeOpenTargets } from './open-targets-conformance';
import { describeOverrides } from './override-conformance';
import { describeRefusals } from './refusals-conformance';
import { describeRuleChanges } from './rule-changes-conformance';
import { describeUnknownOutcomes } from './unknown-outcomes-conformance';
import { describeUnmanagedRules } from './unmanaged-rules-conformance';

const LARGE_CAPACITY = 2000;
/** Added to the deadlines that a test may wait for, on a busy machine. */
const CASE_MS = 20_000;

/**
 * What every driver must do, for every provider.
 * @param provider its name
 * @param start creates a bench; called with small and with large capacity
 * @param targets the kind of targets, where a provider has several
 */
export function describeDriver(
  provider: Provider,
  start: (options: BenchOptions) => Promise<DriverBench>,
  targets = '',
): void {
  const callTimeouts = Object.values(DriverRegistry.facts(provider).resourceTypes).map(
    ({ traits }) => traits.callTimeoutMs,
  );
  const caseMs = CASE_MS + 2 * Math.max(...callTimeouts);
  const driverName = `${provider} driver${targets && ` of ${targets}`}`;

  describe(driverName, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY }));
    describeRuleChanges(suite);
    describeUnmanagedRules(suite);
    describeRefusals(suite);
    describeOpenTargets(suite);
    describeOverrides(suite);
    describeAccess(suite);
    describeUnknownOutcomes(suite, caseMs);
  });

  describeFaults(`${driverName} when its cloud misbehaves`, start, caseMs);

  describe(`${driverName} with a large object`, () => {
    let bench: DriverBench;
    beforeAll(async () => {
      bench = await start({ capacity: LARGE_CAPACITY });
    });
    afterAll(() => bench.close());

    it(
      'reads all pages',
      async () => {
        const target = bench.target(0);
        // more than one page of every cloud, with an acceptable number of calls
        const count = bench.cloud.batch === 'call-each' ? 600 : 1100;
        const specs = hosts(count).map((cidr) => ruleSpecFor(bench.cloud, cidr));
        const { batchSize } = bench.driver.traits;
        for (let from = 0; from < specs.length; from += batchSize) {
          const batch = specs.slice(from, from + batchSize).map((spec) => addition(spec));
          const results = await bench.driver.applyChanges(target, batch);
          expect(results.filter(({ result }) => result !== 'done')).toEqual([]);
        }
        const observed = (await bench.driver.readRules(target)).rules;
        expect(new Set(observed.map(({ key }) => key))).toEqual(new Set(specs.map(ruleKey)));
        expect(observed).toHaveLength(specs.length);
      },
      caseMs,
    );
  });
}
