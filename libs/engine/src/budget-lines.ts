import type { Timing } from './timing';

/** Turns are given out this far ahead: what a pass waits for may become free sooner. */
const MAX_TURN_MS = 30_000;

interface Line {
  /** passes that wait in their slot */
  waiting: number;
  last: Promise<unknown>;
  /** when the pass that was sent away last may come back, ms of `Timing` */
  turnAt: number;
}

/** One request for write calls of an account. */
export interface BudgetRequest {
  /** requests of one line are served in order */
  readonly line: string;
  /** how long the account takes to refill what is requested */
  readonly refillMs: number;
  /** the longest wait in a slot */
  readonly maxWaitMs: number;
  /** asks the database. @returns 0 when taken, else ms until it may be asked again */
  readonly ask: () => Promise<number>;
}

/**
 * Lines of passes in this process that wait for the write calls of an account: only the first one asks the database, and
 * a pass whose turn is far gives up its slot and is told when to come back. Without them every waiting pass would ask
 * over and over, and all would come back at once.
 */
export class BudgetLines {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly timing: Timing) {}

  /** @returns 0 when taken, else ms after which the pass may try again */
  async take(request: BudgetRequest): Promise<number> {
    const line = this.lines.get(request.line);
    if (!line) {
      const waitMs = await request.ask();
      if (waitMs === 0) return 0;
    }
    return this.waitInLine(request);
  }

  private async waitInLine(request: BudgetRequest): Promise<number> {
    const { line: name, refillMs, maxWaitMs, ask } = request;
    const line = this.lines.get(name) ?? { waiting: 0, last: Promise.resolve(), turnAt: 0 };
    this.lines.set(name, line);
    const until = this.timing.now() + maxWaitMs;
    if (line.waiting * refillMs >= maxWaitMs) return this.turnOf(line, request);
    line.waiting += 1;
    const served = line.last.then(() => this.askUntil(until, ask));
    // this pass gets the error below; the next one asks regardless
    line.last = served.catch(() => undefined);
    try {
      const waitMs = await served;
      return waitMs === 0 ? 0 : this.turnOf(line, request);
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0 && line.turnAt <= this.timing.now()) this.lines.delete(name);
    }
  }

  private async askUntil(until: number, ask: () => Promise<number>): Promise<number> {
    for (;;) {
      const waitMs = await ask();
      if (waitMs === 0 || this.timing.now() + waitMs > until) return waitMs;
      await this.timing.wait(waitMs);
    }
  }

  private turnOf(line: Line, { refillMs, maxWaitMs }: BudgetRequest): number {
    const now = this.timing.now();
    const turnAt = Math.max(line.turnAt, now + Math.min(maxWaitMs, line.waiting * refillMs)) + refillMs;
    // without a turn: it gets one when it is back. Spread, so that those beyond the maximum do not come back together
    if (turnAt - now > MAX_TURN_MS) return MAX_TURN_MS * (0.5 + this.timing.random() / 2);
    line.turnAt = turnAt;
    return turnAt - now;
  }
}
