interface Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const before = (one: Planned, other: Planned): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** Virtual time in ms. Between two events every promise that can settle settles, so that a seed has one history. */
export class Scheduler {
  now = 0;
  private planned = 0;
  private readonly heap: Planned[] = [];

  at(time: number, run: () => void): void {
    const event = { at: Math.max(time, this.now), order: (this.planned += 1), run };
    let place = this.heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!before(event, this.heap[parent]!)) break;
      this.heap[place] = this.heap[parent]!;
      place = parent;
    }
    this.heap[place] = event;
  }

  in(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  /** Runs everything planned until then. Rejects with what an event throws. */
  runUntil(end: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        const first = this.heap[0];
        if (!first || first.at > end) {
          this.now = end;
          resolve();
          return;
        }
        this.removeFirst();
        this.now = first.at;
        try {
          first.run();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        // a tick asked for by a microtask comes after all microtasks
        queueMicrotask(() => process.nextTick(step));
      };
      step();
    });
  }

  private removeFirst(): void {
    const last = this.heap.pop()!;
    const { length } = this.heap;
    if (length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= length) break;
      if (child + 1 < length && before(this.heap[child + 1]!, this.heap[child]!)) child += 1;
      if (!before(this.heap[child]!, last)) break;
      this.heap[place] = this.heap[child]!;
      place = child;
    }
    this.heap[place] = last;
  }
}
