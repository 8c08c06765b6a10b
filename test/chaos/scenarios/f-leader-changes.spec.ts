import { table } from '../../bench/figure';
import { machineSlowness } from '../oracles/bounds';
import { failoverRun } from '../runner/failover-run';
import { SHORT } from '../runner/faults';
import { hasPatroni } from '../runner/patroni';

const NORMAL_WITHIN_SECONDS = 15;

if (!hasPatroni)
  process.stderr.write(
    '\n*** patroni, etcd, haproxy or postgresql-15 is missing: failovers DID NOT RUN ***\n\n',
  );

/** The short form of `npm run chaos -- --figure failover`. */
(hasPatroni ? describe : describe.skip)('F. The leader of PostgreSQL changes', () => {
  it('a switchover and a killed leader under 50 starts and stops a second: nothing is lost, soon all is normal [F9, R33]', async () => {
    const { figures = [] } = await failoverRun(
      {
        seed: 466,
        kills: 0,
        redis: false,
        minutes: 3,
        unmanagedRules: 0,
        lengths: SHORT,
        latencyMs: 20,
        log: () => undefined,
        nodes: 2,
        ttl: 10,
        calmMs: 5000,
      },
      2,
    );
    process.stderr.write(`${table(figures)}\n`);
    const toNormal = figures.filter(({ goal }) => goal !== null).map(({ value }) => value);
    expect(toNormal).toHaveLength(2);
    expect(Math.max(...toNormal)).toBeLessThan(NORMAL_WITHIN_SECONDS * machineSlowness());
  }, 240_000);
});
