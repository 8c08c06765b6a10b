import type { Logger } from 'pino';
import type { Converger } from './converger';

interface Run {
  readonly over: Promise<void>;
  /** nobody waits for it any longer */
  readonly letGo: () => void;
}

/** The convergences of this process: at most one of an object at a time, at most `capacity` in all. */
export class ConvergenceRunner {
  private readonly running = new Map<string, Run>();
  private readonly stopping = new AbortController();

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
    if (this.stopping.signal.aborted) return Promise.resolve();
    const known = this.running.get(targetId);
    if (known) return known.over;
    const converged = this.converger
      .converge(targetId, this.stopping.signal)
      .catch((error: unknown) => this.log.error({ err: error, targetId }, 'A convergence broke off'))
      .finally(() => this.running.delete(targetId));
    let letGo: (() => void) | null = null;
    const over = new Promise<void>((resolve) => {
      letGo = resolve;
      void converged.then(resolve);
    });
    this.running.set(targetId, { over, letGo: () => letGo?.() });
    return over;
  }

  /**
   * None begins any more, and those under way end after their step. What takes longer is handed over: another worker
   * reads from the cloud how it came out.
   */
  async stop(patienceMs: number): Promise<void> {
    this.stopping.abort();
    const timer = setTimeout(() => {
      this.log.warn({ objects: this.running.size }, 'Work under way is left to the next worker');
      for (const { letGo } of this.running.values()) letGo();
    }, patienceMs);
    await Promise.all([...this.running.values()].map(({ over }) => over));
    clearTimeout(timer);
    await this.converger.handOver();
  }
}
