import { failoverRun } from '../runner/failover-run';
import { SHORT } from '../runner/faults';
import { hasPatroni } from '../runner/patroni';

if (!hasPatroni)
  process.stderr.write(
    '\n*** patroni, etcd, haproxy or postgresql-15 is missing: failovers DID NOT RUN ***\n\n',
  );

/** The short form of `npm run chaos -- --figure failover`. */
(hasPatroni ? describe : describe.skip)('F. The leader of PostgreSQL changes', () => {
  it('a switchover and a killed leader under 50 starts and stops a second: nothing is lost, and all is normal again [F9, R33]', async () => {
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
    // one figure of each kind: how long it took until starts opened as usual
    expect(figures.filter(({ goal }) => goal !== null)).toHaveLength(2);
  });
});
