import type { ChangeResult } from '#rules';
import type { CallFailure } from './call-failure';

/** What became of each change of one batch, and whether it makes sense to send more. */
export class Outcomes {
  private readonly results = new Map<string, ChangeResult>();
  private halting: CallFailure | null = null;

  /** @param cloud its name, for messages */
  constructor(private readonly cloud: string) {}

  /** The failure after which nothing more is sent. */
  get haltedBy(): CallFailure | null {
    return this.halting;
  }

  has(key: string): boolean {
    return this.results.has(key);
  }

  /** @param key a removal's rule id, or an addition's `ruleKey` */
  of(key: string): ChangeResult {
    return this.results.get(key) ?? { result: 'unknown', message: `${this.cloud} did not mention this rule` };
  }

  done(key: string, providerRuleId: string | null): void {
    this.results.set(key, { result: 'done', providerRuleId });
  }

  failed(keys: readonly string[], failure: CallFailure): void {
    for (const key of keys) this.results.set(key, failure.changeResult);
  }

  /** A failure that the next call would meet too: nothing more is sent. */
  halt(keys: readonly string[], failure: CallFailure): void {
    this.failed(keys, failure);
    this.halting = failure;
  }

  /** As `halt`, before the changes were sent. */
  haltUnsent(keys: readonly string[], failure: CallFailure): void {
    this.halting = failure;
    this.unsent(keys);
  }

  /** Once halted: these were not sent, so they surely did not happen. Before, it changes nothing. */
  unsent(keys: readonly string[]): void {
    if (!this.halting) return;
    for (const key of keys) this.results.set(key, this.halting.unsent.changeResult);
  }
}
