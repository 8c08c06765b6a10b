import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { until } from '../../harness/until';

/** Times that were written before the database's clock stepped back by an hour. */
const FUTURE_TIMES = {
  'a lease': `UPDATE targets SET lease_until = now() + interval '1 hour' WHERE identifier = $1`,
  'a write of the whole list in doubt': `UPDATE targets SET in_flight_until = now() + interval '1 hour' WHERE identifier = $1`,
  'a rule in doubt': `UPDATE rules r SET in_flight_until = now() + interval '1 hour'
    FROM targets t WHERE t.id = r.target_id AND t.identifier = $1`,
  'a due time': `UPDATE rules r SET due_at = now() + interval '1 hour'
    FROM targets t WHERE t.id = r.target_id AND t.identifier = $1`,
} as const;

describe('L. The clock of the database steps back', () => {
  const drawbridge = ownForFaults({ worker: false });

  // a worker left over by a failed test would affect the next one
  afterEach(() => Promise.all(drawbridge.workers.map((worker) => worker.stop('SIGKILL'))));

  it.each(Object.entries(FUTURE_TIMES).map(([what, statement], index) => ({ what, statement, index })))(
    '$what an hour in the future is ignored: the rule is closed in time [L8]',
    async ({ statement, index }) => {
      const first = await drawbridge.startWorker();
      const bench = await FaultBench.begin(drawbridge, index);
      const id = await bench.open(`203.0.113.${index + 1}`);
      const away = bench.watch.fault('no worker');
      await first.stop('SIGKILL');
      await bench.stop(id);
      await drawbridge.query(statement, [bench.group]);
      await drawbridge.startWorker();
      away.end();
      await until('it is closed', async () => (await bench.addresses()).length === 0);
      await bench.org.reaches(id, 'CANCELLED');
      await bench.holds();
    },
  );
});
