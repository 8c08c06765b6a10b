/** A strictly increasing clock: its readings order events. */
export class Clock {
  private last = 0;

  /** Microseconds since 1970, larger than every earlier reading. */
  now(): number {
    this.last = Math.max(this.last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000));
    return this.last;
  }
}
