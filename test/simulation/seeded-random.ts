/** Deterministic random numbers: sfc32, initialized by splitmix32. */
export class SeededRandom {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number) {
    let state = seed | 0;
    const splitmix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mix = state ^ (state >>> 16);
      mix = Math.imul(mix, 0x21f0aaad);
      mix ^= mix >>> 15;
      mix = Math.imul(mix, 0x735a2d97);
      return (mix ^ (mix >>> 15)) | 0;
    };
    [this.a, this.b, this.c] = [splitmix(), splitmix(), splitmix()];
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** 0 (inclusive) to 1 (exclusive) */
  next(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (this.c << 21) | (this.c >>> 11);
    this.c = (this.c + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** An integer, both ends included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @throws Error when there is nothing to choose from */
  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('There is nothing to choose from');
    return from[Math.floor(this.next() * from.length)]!;
  }
}
