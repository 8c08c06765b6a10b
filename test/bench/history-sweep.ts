import { Database } from '#entities';
import { EngineStore } from '#engine-store';
import { cloneDatabase } from '../harness/database/database';
import { figure, type Figure } from './figure';
import { scaled } from './history-scale';
import { seedSweep } from './history-seeds';

const SWEEPS = 200;
/** not measured: they read from disk, and plan */
const WARM_UP_SWEEPS = 20;
/** upper limit for a slow query */
const MAX_SWEEPING_MS = 60_000;
/** what a worker with 40 slots requests */
const [PER_ORGANIZATION, TARGETS_BATCH_SIZE] = [40, 120];

/** Duration of the sweep query when 200,000 of a million rules on 100,000 targets are due. */
export async function sweepFigures(): Promise<Figure[]> {
  const clone = await cloneDatabase();
  const database = await new Database({
    url: clone.url,
    applicationName: 'history-bench',
    poolSize: 2,
  }).connect();
  try {
    const counts = {
      targets: scaled(100_000),
      rules: scaled(1_000_000),
      due: scaled(200_000),
      organizations: scaled(1000),
    };
    await seedSweep(clone.url, counts);
    const { sweep: sweeps } = new EngineStore();
    const times: number[] = [];
    for (let sweep = 0; sweep < WARM_UP_SWEEPS; sweep += 1)
      await sweeps.waitingTargets(database.autocommit, PER_ORGANIZATION, TARGETS_BATCH_SIZE);
    const first = performance.now();
    while (times.length < SWEEPS && performance.now() < first + MAX_SWEEPING_MS) {
      const began = performance.now();
      const found = await sweeps.waitingTargets(database.autocommit, PER_ORGANIZATION, TARGETS_BATCH_SIZE);
      times.push(performance.now() - began);
      if (found.length === 0) throw new Error('The sweep found nothing to do');
    }
    const label = `${counts.due.toLocaleString('en')} rules due of ${counts.rules.toLocaleString('en')}`;
    return [figure(`sweep query, ${label}`, 'ms', times, { atMost: 10 })];
  } finally {
    await database.close();
    await clone.drop();
  }
}
