interface ScheduledEvent {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const before = (one: ScheduledEvent, other: ScheduledEvent): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** Virtual time in ms. All promises that can settle do so between two events: a seed has exactly one history. */
export class Scheduler {
  now = 0;
  private scheduled = 0;
  private readonly heap: ScheduledEvent[] = [];

  at(time: number, run: () => void): void {
    const event = { at: Math.max(time, this.now), order: (this.scheduled += 1), run };
    let index = this.heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, this.heap[parent]!)) break;
      this.heap[index] = this.heap[parent]!;
      index = parent;
    }
    this.heap[index] = event;
  }

  in(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  /** Runs all events up to then. Rejects with the error of an event. */
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
        // a tick that a microtask schedules runs after all microtasks
        queueMicrotask(() => process.nextTick(step));
      };
      step();
    });
  }

  private removeFirst(): void {
    const last = this.heap.pop()!;
    const { length } = this.heap;
    if (length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && before(this.heap[child + 1]!, this.heap[child]!)) child += 1;
      if (!before(this.heap[child]!, last)) break;
      this.heap[index] = this.heap[child]!;
      index = child;
    }
    this.heap[index] = last;
  }
}
