/** Capacity and refill rate of a bucket. */
export interface BucketSize {
  readonly burst: number;
  readonly refillPerSecond: number;
}

/** Token buckets by key, initially full. */
export class TokenBuckets {
  private readonly buckets = new Map<string, { tokens: number; readAt: number }>();

  /** Takes one token. @returns false when the bucket is empty */
  take(key: string, size: BucketSize): boolean {
    const now = performance.now();
    const bucket = this.buckets.get(key) ?? { tokens: size.burst, readAt: now };
    const refilled = bucket.tokens + ((now - bucket.readAt) / 1000) * size.refillPerSecond;
    const tokens = Math.min(size.burst, refilled);
    const allowed = tokens >= 1;
    this.buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, readAt: now });
    return allowed;
  }

  clear(): void {
    this.buckets.clear();
  }
}
