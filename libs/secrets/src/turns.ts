/** Lets so many pieces of work run at a time; the others wait in the order they came. */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  /** Runs `work` when its turn comes. @returns what it returns; throws what it throws */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.atOnce) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // the turn is handed on, so that nobody who comes now can take it first
      if (next) next();
      else this.running -= 1;
    }
  }
}
