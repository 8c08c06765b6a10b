import { Injectable } from '@nestjs/common';
import { Database, WriteProbe } from '#entities';
import { QueueProbe } from './queue-probe';

const ANSWER_TIMEOUT_MS = 2000;

export interface ReadinessReport {
  /** DEGRADED: the queue is lost, the sweep in the database does its work more slowly; DOWN: no database that accepts writes, or it stops */
  readonly status: 'UP' | 'DEGRADED' | 'DOWN';
  readonly database: 'UP' | 'DOWN';
  readonly queue: 'UP' | 'DOWN';
}

/** Asks what the service rests on. */
@Injectable()
export class Readiness {
  private leaving = false;
  private readonly writes: WriteProbe;

  constructor(
    database: Database,
    private readonly queue: QueueProbe,
  ) {
    this.writes = new WriteProbe(database);
  }

  /** From now on the report is DOWN: the process is about to stop. */
  leave(): void {
    this.leaving = true;
  }

  async report(): Promise<ReadinessReport> {
    const [database, queue] = await Promise.all([
      answers(() => this.writes.check()),
      answers(() => this.queue.ping()),
    ]);
    const status = database === 'DOWN' || this.leaving ? 'DOWN' : queue === 'DOWN' ? 'DEGRADED' : 'UP';
    return { status, database, queue };
  }
}

async function answers(ping: () => Promise<void>): Promise<'UP' | 'DOWN'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'DOWN'>((resolve) => {
    timer = setTimeout(() => resolve('DOWN'), ANSWER_TIMEOUT_MS);
  });
  // a server that refuses is the very thing the report is about
  const answer = ping().then(
    () => 'UP' as const,
    () => 'DOWN' as const,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
