import type { Timing } from '#engine';
import type { SeededRandom } from './seeded-random';
import { ConnectionLost, type Connection } from './memory-database';
import type { Scheduler } from './scheduler';

/** What may happen to a process between two of its steps. */
export type ProcessFault =
  | { kind: 'pause'; ms: number }
  | { kind: 'crash' }
  | { kind: 'lost-connection' }
  | null;

/** A worker process with its own time, randomness and database connection. It may be paused or crash at any step. */
export class SimulatedProcess implements Timing, Connection {
  isAlive = true;
  private pausedUntil = 0;

  /**
   * @param faultAt is called at every step
   * @param onCrash is called when it has crashed
   */
  constructor(
    readonly name: string,
    private readonly scheduler: Scheduler,
    private readonly seededRandom: SeededRandom,
    private readonly faultAt: (name: string, step: string) => ProcessFault,
    private readonly onCrash: () => void,
  ) {}

  now(): number {
    return this.scheduler.now;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.scheduler.in(ms, () => this.step('waited', resolve)));
  }

  every(ms: number, run: () => void): () => void {
    let isOn = true;
    const tick = (): void => {
      if (!isOn) return;
      run();
      next();
    };
    const next = (): void =>
      this.scheduler.in(ms, () => {
        if (isOn) this.step('ticks', tick);
      });
    next();
    return () => {
      isOn = false;
    };
  }

  random(): number {
    return this.seededRandom.next();
  }

  crash(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.onCrash();
  }

  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.scheduler.now + ms);
  }

  /** Runs the continuation, after a pause if the process is paused; never if it has crashed. */
  step(what: string, continuation: () => void): void {
    if (!this.isAlive) return;
    const fault = this.faultAt(this.name, what);
    if (fault?.kind === 'crash') {
      this.crash();
      return;
    }
    if (fault?.kind === 'pause') this.pause(fault.ms);
    this.whenRunning(continuation);
  }

  private whenRunning(continuation: () => void): void {
    if (!this.isAlive) return;
    if (this.pausedUntil <= this.scheduler.now) continuation();
    else this.scheduler.at(this.pausedUntil, () => this.whenRunning(continuation));
  }

  ask<Answer>(what: string, ask: () => Answer): Promise<Awaited<Answer>> {
    return new Promise((resolve, reject) => {
      this.scheduler.in(this.seededRandom.between(0.5, 15), () => {
        const broken = this.faultAt(this.name, `requests ${what}`)?.kind === 'lost-connection';
        if (broken && this.seededRandom.happens(0.5)) {
          this.step(what, () => reject(new ConnectionLost(what)));
          return;
        }
        const work = (): void => void this.answer(what, ask, broken).then(resolve, reject);
        // a transaction of several statements needs a running process, a statement that was sent does not
        if (what === 'transaction') this.whenRunning(work);
        else work();
      });
    });
  }

  private answer<Answer>(what: string, ask: () => Answer, broken: boolean): Promise<Awaited<Answer>> {
    return new Promise((resolve, reject) => {
      Promise.resolve(ask()).then(
        (answer) => this.step(what, () => (broken ? reject(new ConnectionLost(what)) : resolve(answer))),
        (error: unknown) => this.step(what, () => reject(error)),
      );
    });
  }
}
