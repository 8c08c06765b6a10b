import { group, organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { BenchPostgres } from './bench-postgres';
import { figure, type Figure } from './figure';
import { statementsDuring } from './statement-log';

const WORKERS = [1, 2, 4];
const SETTLE_MS = 15_000;
/** one comparison of the target with its cloud */
const OBSERVED_MS = 45_000;
const FIRST_WORKER = 3;
const FURTHER_WORKER = 0.5;

/**
 * Statements that the whole product sends while nothing happens: API, workers and the queue in PostgreSQL. There is one
 * live session: its end is awaited.
 */
export async function idle(postgres: BenchPostgres): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start();
  try {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const session = await org.started({ ipv4Address: '203.0.113.7' });
    await org.reaches(session.id, 'ACTIVE');
    const figures: Figure[] = [];
    let first = 0;
    for (const workers of WORKERS) {
      while (drawbridge.workers.length < workers) await drawbridge.startWorker();
      const rate = await perSecond(postgres, drawbridge);
      if (workers === 1) first = rate;
      figures.push(
        workers === 1
          ? figure('idle statements, one worker', '/s', [rate], { atMost: FIRST_WORKER })
          : figure(
              `idle statements, ${workers} workers: each further one`,
              '/s',
              [(rate - first) / (workers - 1)],
              {
                atMost: FURTHER_WORKER,
              },
            ),
      );
    }
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

async function perSecond(postgres: BenchPostgres, drawbridge: Drawbridge): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, OBSERVED_MS));
  const sent = await statementsDuring(postgres, drawbridge, pause);
  return sent.length / (OBSERVED_MS / 1000);
}
