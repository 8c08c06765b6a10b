import type { EventEmitter } from 'node:events';

interface TurnLimits {
  /** requests of one address that are worked on at once */
  readonly atOnce: number;
  /** requests of one address that wait for their turn */
  readonly waiting: number;
  /** requests of all addresses that begin in one turn */
  readonly eachTurn: number;
  /** of a turn, while several addresses have requests; that of one address alone is one of the event loop */
  readonly turnMs: number;
}

const LIMITS: TurnLimits = { atOnce: 20, waiting: 1000, eachTurn: 10, turnMs: 2 };
/** A request that lasts longer waits for something else than this process. */
const WORK_MS = 2000;

/** Event of a response whose request waits, and lets others of its address begin. */
export const WAITS = 'waits';

type Answer = EventEmitter & { readonly destroyed: boolean };

/** The requests of one address. */
interface Line {
  readonly address: string;
  readonly waiting: { readonly response: Answer; readonly begin: () => void }[];
  working: number;
}

/**
 * In one turn one request of each address begins. If all began that have arrived, a request that needs several turns of the
 * event loop, as it reads the database, would wait in each of them for everything that another address has sent. Requests that
 * are answered at once, of an address that asks over and over, leave a part of the time to those of others.
 */
export class RequestTurns {
  private readonly lines = new Map<string, Line>();
  /** with a request that may begin; who was served longest ago is first */
  private readonly ready = new Set<Line>();
  /** addresses, in this turn */
  private readonly served = new Set<string>();
  private isScheduled = false;

  constructor(private readonly limits = LIMITS) {}

  /** @returns false when too many requests of the address wait; else `begin` is called, at once if it is its turn */
  take(address: string, response: Answer, begin: () => void): boolean {
    const line = this.lines.get(address) ?? { address, waiting: [], working: 0 };
    if (line.waiting.length >= this.limits.waiting) return false;
    this.lines.set(address, line);
    line.waiting.push({ response, begin });
    if (line.working < this.limits.atOnce) this.ready.add(line);
    this.serve();
    return true;
  }

  private serve(): void {
    for (const line of this.ready) {
      if (this.served.size >= this.limits.eachTurn) break;
      if (this.served.has(line.address)) continue;
      this.ready.delete(line);
      this.served.add(line.address);
      this.beginNext(line);
      // at the end
      if (line.waiting.length > 0 && line.working < this.limits.atOnce) this.ready.add(line);
    }
    if (this.isScheduled || this.served.size === 0) return;
    this.isScheduled = true;
    const begin = (): void => {
      this.isScheduled = false;
      this.served.clear();
      this.serve();
    };
    if (this.lines.size > 1) setTimeout(begin, this.limits.turnMs).unref();
    else setImmediate(begin);
  }

  private beginNext(line: Line): void {
    let next = line.waiting.shift();
    // its client is gone
    while (next?.response.destroyed) next = line.waiting.shift();
    if (!next) return this.leave(line);
    line.working += 1;
    let isWorking = true;
    const end = (): void => {
      if (!isWorking) return;
      isWorking = false;
      clearTimeout(timer);
      line.working -= 1;
      if (line.waiting.length > 0) this.ready.add(line);
      else this.leave(line);
      this.serve();
    };
    const timer = setTimeout(end, WORK_MS).unref();
    next.response.once('close', end);
    next.response.once(WAITS, end);
    next.begin();
  }

  private leave(line: Line): void {
    if (line.working === 0 && line.waiting.length === 0) this.lines.delete(line.address);
  }
}
