import type { Timing } from '#engine';
import type { Chance } from './chance';
import { ConnectionLost, type Connection } from './model/model-database';
import type { Scheduler } from './scheduler';

/** What may befall a process between two of its steps. */
export type Mishap = { kind: 'pause'; ms: number } | { kind: 'death' } | { kind: 'lost-connection' } | null;

/** A worker process: its time, its chance, its connection. It may stand still, and it may die at any step. */
export class SimulatedProcess implements Timing, Connection {
  isAlive = true;
  private standsUntil = 0;

  /**
   * @param mishap asked at every step
   * @param onDeath told when it has died
   */
  constructor(
    readonly name: string,
    private readonly scheduler: Scheduler,
    private readonly chance: Chance,
    private readonly mishap: (name: string, step: string) => Mishap,
    private readonly onDeath: () => void,
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
    return this.chance.next();
  }

  die(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.onDeath();
  }

  pause(ms: number): void {
    this.standsUntil = Math.max(this.standsUntil, this.scheduler.now + ms);
  }

  /** Goes on with what waited, unless the process stands still or is dead. */
  step(what: string, go: () => void): void {
    if (!this.isAlive) return;
    const mishap = this.mishap(this.name, what);
    if (mishap?.kind === 'death') {
      this.die();
      return;
    }
    if (mishap?.kind === 'pause') this.pause(mishap.ms);
    this.whenAwake(go);
  }

  private whenAwake(go: () => void): void {
    if (!this.isAlive) return;
    if (this.standsUntil <= this.scheduler.now) go();
    else this.scheduler.at(this.standsUntil, () => this.whenAwake(go));
  }

  ask<Answer>(what: string, ask: () => Answer): Promise<Awaited<Answer>> {
    return new Promise((resolve, reject) => {
      this.scheduler.in(this.chance.between(0.5, 15), () => {
        const broken = this.mishap(this.name, `asks ${what}`)?.kind === 'lost-connection';
        if (broken && this.chance.happens(0.5)) {
          this.step(what, () => reject(new ConnectionLost(what)));
          return;
        }
        const work = (): void => void this.answer(what, ask, broken).then(resolve, reject);
        // a transaction of several statements needs its process awake, a statement under way does not
        if (what === 'transaction') this.whenAwake(work);
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
