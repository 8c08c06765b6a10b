/** An append-only list of dated entries: it keeps the newest `capacity` and counts the dropped ones. */
export class Journal<T extends { readonly at: number }> {
  private entries: T[] = [];
  private dropped = 0;

  constructor(private readonly capacity: number) {}

  /** Number of dropped entries. */
  get forgotten(): number {
    return this.dropped;
  }

  /** Appends an entry; its time must not be before the last one's. */
  append(entry: T): void {
    this.entries.push(entry);
    // dropping a tenth at once keeps appends cheap when the journal is full
    if (this.entries.length > this.capacity) this.drop(Math.ceil(this.capacity / 10));
  }

  /**
   * Entries later than `since`, oldest first.
   * @param since microseconds since 1970, exclusive
   * @param limit at most this many, the newest ones
   */
  since(since: number, limit = Number.POSITIVE_INFINITY): T[] {
    const first = this.firstAfter(since);
    return this.entries.slice(Math.max(first, this.entries.length - limit));
  }

  clear(): void {
    this.entries = [];
    this.dropped = 0;
  }

  private drop(count: number): void {
    this.entries.splice(0, count);
    this.dropped += count;
  }

  private firstAfter(since: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.entries[middle]?.at ?? 0) > since) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
