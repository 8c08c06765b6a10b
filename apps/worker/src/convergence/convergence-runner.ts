import type { Logger } from 'pino';
import type { Converger } from './converger';

/** The convergences of this process: at most one of an object at a time, at most `capacity` in all. */
export class ConvergenceRunner {
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly converger: Converger,
    private readonly capacity: number,
    private readonly log: Logger,
  ) {}

  get free(): number {
    return Math.max(0, this.capacity - this.running.size);
  }

  /** Never rejects: what went wrong is logged, and what is due stays due for the next sweep. */
  run(targetId: string): Promise<void> {
    const known = this.running.get(targetId);
    if (known) return known;
    const run = this.converger
      .converge(targetId)
      .catch((error: unknown) => this.log.error({ err: error, targetId }, 'A convergence broke off'))
      .finally(() => this.running.delete(targetId));
    this.running.set(targetId, run);
    return run;
  }

  /** Waits until nothing runs any more. */
  async drained(): Promise<void> {
    await Promise.all(this.running.values());
  }
}
