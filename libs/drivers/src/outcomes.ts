import type { ChangeResult } from '#rules';
import type { DriverError } from './driver-error';

/** A failed write that knows what it means for its changes. */
export interface WriteFailure extends DriverError {
  readonly changeResult: ChangeResult;
}

/** What a write that failed like this means for its changes. @param failure settled: it surely was not done */
export function changeResultOf(failure: DriverError & { readonly settled: boolean }): ChangeResult {
  const { kind, message, retryAfterMs, settled } = failure;
  if (!settled) return { result: 'unknown', message };
  return { result: 'refused', kind, message, ...(retryAfterMs !== null && { retryAfterMs }) };
}

/** What became of each change of one batch, and whether it makes sense to send more. */
export class Outcomes {
  private readonly results = new Map<string, ChangeResult>();
  private halting: WriteFailure | null = null;

  /** @param cloud its name, for messages */
  constructor(private readonly cloud: string) {}

  /** The failure after which nothing more is sent. */
  get haltedBy(): WriteFailure | null {
    return this.halting;
  }

  /** @param key a removal's rule id, or an addition's `ruleKey` */
  of(key: string): ChangeResult {
    return this.results.get(key) ?? { result: 'unknown', message: `${this.cloud} did not mention this rule` };
  }

  done(key: string, providerRuleId: string | null): void {
    this.results.set(key, { result: 'done', providerRuleId });
  }

  failed(keys: readonly string[], failure: WriteFailure): void {
    for (const key of keys) this.results.set(key, failure.changeResult);
  }

  /** A failure that the next call would meet too: nothing more is sent. */
  halt(keys: readonly string[], failure: WriteFailure): void {
    this.failed(keys, failure);
    this.halting = failure;
  }

  /** As `halt`, before the changes were sent. */
  haltUnsent(keys: readonly string[], failure: WriteFailure): void {
    this.halting = failure;
    this.unsent(keys);
  }

  /** Once halted: these were not sent, so they surely did not happen. Before, it changes nothing. */
  unsent(keys: readonly string[]): void {
    if (!this.halting) return;
    const { kind, message, retryAfterMs } = this.halting;
    const wait = retryAfterMs === null ? {} : { retryAfterMs };
    for (const key of keys)
      this.results.set(key, { result: 'refused', kind, message: `Not sent: ${message}`, ...wait });
  }
}
