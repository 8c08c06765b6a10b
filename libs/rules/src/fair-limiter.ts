/** A task was not run: too many wait, or the client that it was for has disconnected. */
export class TooBusy extends Error {
  /** @param ofOne one caller sends more than it may; otherwise all together do */
  constructor(readonly ofOne: boolean) {
    super(ofOne ? 'Too many requests at once: wait for the answers to earlier ones' : 'Too many tasks wait');
  }
}

interface Waiting {
  readonly start: () => void;
  readonly leave: () => void;
}

/** Limits how many tasks run concurrently. The others wait; groups take turns, each in order of arrival. */
export class FairLimiter {
  private running = 0;
  private waiting = 0;
  /** the group whose turn is next comes first; none is empty */
  private readonly groups = new Map<string, Waiting[]>();

  constructor(
    private readonly maxRunning: number,
    private readonly maxWaiting: number,
    /** its tasks are of one caller */
    private readonly ofOne = false,
  ) {}

  get isIdle(): boolean {
    return this.running === 0;
  }

  /** Whether a task of the group would run or wait now, and not be refused. */
  hasRoomFor(group: string): boolean {
    return this.running < this.maxRunning || this.waiting < this.maxWaiting || !!this.crowdedGroup(group);
  }

  /**
   * Runs `work` as soon as a slot is free. Beyond the maximum of waiting tasks, one of the group with most of them is
   * refused.
   * @param disconnected the task stops waiting when it aborts
   * @returns what `work` returns. @throws TooBusy, and what `work` throws
   */
  async run<T>(group: string, work: () => Promise<T>, disconnected?: AbortSignal): Promise<T> {
    if (this.running < this.maxRunning) this.running += 1;
    else await this.turn(group, disconnected);
    try {
      return await work();
    } finally {
      // the slot is handed over, so that a new arrival cannot take it first
      if (!this.startNext()) this.running -= 1;
    }
  }

  private async turn(group: string, disconnected?: AbortSignal): Promise<void> {
    if (disconnected?.aborted || !this.hasRoomFor(group)) throw new TooBusy(this.ofOne);
    if (this.waiting >= this.maxWaiting) this.crowdedGroup(group)!.at(-1)!.leave();
    const entries = this.groups.get(group) ?? [];
    this.groups.set(group, entries);
    this.waiting += 1;
    let leave!: () => void;
    try {
      await new Promise<void>((start, reject) => {
        leave = () => {
          const index = entries.indexOf(entry);
          // it is just being started
          if (index < 0) return;
          entries.splice(index, 1);
          if (entries.length === 0) this.groups.delete(group);
          reject(new TooBusy(this.ofOne));
        };
        const entry = { start, leave };
        entries.push(entry);
        disconnected?.addEventListener('abort', leave);
      });
    } finally {
      this.waiting -= 1;
      disconnected?.removeEventListener('abort', leave);
    }
  }

  /** @returns the group with most waiting tasks, unless this one would have as many */
  private crowdedGroup(group: string): readonly Waiting[] | undefined {
    const own = this.groups.get(group)?.length ?? 0;
    const [longest] = [...this.groups.values()].toSorted((one, other) => other.length - one.length);
    return longest && longest.length > own + 1 ? longest : undefined;
  }

  private startNext(): boolean {
    const [first] = this.groups;
    if (!first) return false;
    const [group, entries] = first;
    const next = entries.shift()!;
    // its next turn comes after that of all others
    this.groups.delete(group);
    if (entries.length > 0) this.groups.set(group, entries);
    next.start();
    return true;
  }
}

/** Limits how many tasks of each key run concurrently, and how many wait. */
export class LimiterPerKey {
  private readonly limiters = new Map<string, FairLimiter>();

  constructor(
    private readonly maxRunning: number,
    private readonly maxWaiting: number,
  ) {}

  /** As `FairLimiter.run`. */
  async run<T>(key: string, work: () => Promise<T>, disconnected?: AbortSignal): Promise<T> {
    const limiter = this.limiters.get(key) ?? new FairLimiter(this.maxRunning, this.maxWaiting, true);
    this.limiters.set(key, limiter);
    try {
      return await limiter.run(key, work, disconnected);
    } finally {
      if (limiter.isIdle) this.limiters.delete(key);
    }
  }
}
