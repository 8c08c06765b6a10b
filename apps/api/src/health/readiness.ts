import { Injectable } from '@nestjs/common';
import { Database, WriteProbe } from '#entities';
import { QueueConnection } from '#jobs';

const ANSWER_TIMEOUT_MS = 2000;

export interface ReadinessReport {
  /**
   * DEGRADED: the queue is unavailable and the slower database sweep replaces it; DOWN: the database is unavailable or
   * accepts no writes, or the process is stopping
   */
  readonly status: 'UP' | 'DEGRADED' | 'DOWN';
  readonly database: 'UP' | 'DOWN';
  readonly queue: 'UP' | 'DOWN';
}

/** Checks the service's dependencies. */
@Injectable()
export class Readiness {
  private draining = false;
  private readonly writes: WriteProbe;

  constructor(
    database: Database,
    private readonly queue: QueueConnection,
  ) {
    this.writes = new WriteProbe(database);
  }

  /** Reports DOWN from now on, because the process is about to stop. */
  startDraining(): void {
    this.draining = true;
  }

  async report(): Promise<ReadinessReport> {
    const [database, queue] = await Promise.all([
      probe(() => this.writes.check()),
      probe(() => this.queue.ping()),
    ]);
    const status = database === 'DOWN' || this.draining ? 'DOWN' : queue === 'DOWN' ? 'DEGRADED' : 'UP';
    return { status, database, queue };
  }
}

async function probe(check: () => Promise<void>): Promise<'UP' | 'DOWN'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'DOWN'>((resolve) => {
    timer = setTimeout(() => resolve('DOWN'), ANSWER_TIMEOUT_MS);
  });
  // errors are not logged: the report itself conveys them
  const result = check().then(
    () => 'UP' as const,
    () => 'DOWN' as const,
  );
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
