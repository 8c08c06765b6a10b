import { ruleKey, type ChangeResult } from '#rules';
import { refused, type CallFailure } from './call-failure';
import type { Deadline } from './deadline';
import type { RuleChange } from './provider-driver';

const TIME_IS_OVER = refused('transient', 'The changes before it took all the time');

type Done = Extract<ChangeResult, { result: 'done' }>;

/** The result of each change of one batch, and the failure that stopped the batch. */
export class Outcomes {
  private readonly results = new Map<string, ChangeResult>();
  private halting: CallFailure | null = null;
  private denied: CallFailure | null = null;

  /**
   * @param cloud name for messages
   * @param sendUntil on the clock of `performance.now`; nothing is sent later: a process that was suspended meanwhile may have
   * lost its lease
   */
  constructor(
    private readonly cloud: string,
    private readonly sendUntil = Number.POSITIVE_INFINITY,
  ) {}

  /** The failure after which no further change is sent; null: none. */
  get haltedBy(): CallFailure | null {
    return this.halting ?? (performance.now() < this.sendUntil ? null : TIME_IS_OVER);
  }

  /** As `haltedBy`, removals that were denied included: a cached token may be the reason. */
  get failure(): CallFailure | null {
    return this.halting ?? this.denied;
  }

  /** Call it before additions that are an operation of their own: they do not need the permission to remove. */
  beginAdditions(): void {
    if (this.halting?.kind !== 'denied') return;
    this.denied = this.halting;
    this.halting = null;
  }

  has(key: string): boolean {
    return this.results.has(key);
  }

  /** @param key a removal's rule id, or an addition's `ruleKey` */
  of(key: string): ChangeResult {
    return this.results.get(key) ?? { result: 'unknown', message: `${this.cloud} did not mention this rule` };
  }

  /** One result for each change, in their order. */
  resultsOf(changes: readonly RuleChange[]): ChangeResult[] {
    return changes.map((change) => this.of(keyOf(change)));
  }

  /** @param more as in `ChangeResult` */
  done(
    key: string,
    providerRuleId: string | null,
    more: Pick<Done, 'isNew' | 'note' | 'wasAbsent'> = {},
  ): void {
    this.results.set(key, { result: 'done', providerRuleId, ...more });
  }

  /** Records what is known of each change. */
  record(changes: readonly RuleChange[], results: readonly ChangeResult[]): void {
    for (const [index, change] of changes.entries()) this.results.set(keyOf(change), results[index]!);
  }

  failed(keys: readonly string[], failure: CallFailure): void {
    for (const key of keys) this.results.set(key, failure.changeResult);
  }

  /** Records a failure that would repeat for the next call: no further change is sent. */
  halt(keys: readonly string[], failure: CallFailure): void {
    this.failed(keys, failure);
    this.halting = failure;
  }

  /** As `halt`, for changes that were not sent. */
  haltUnsent(keys: readonly string[], failure: CallFailure): void {
    this.halting = failure;
    this.unsent(keys);
  }

  /** Records a failure. Halts the batch unless the failure concerns only this change. */
  failedOrHalted(key: string, failure: CallFailure): void {
    const concernsChangeOnly = failure.settled && (failure.kind === 'invalid' || failure.kind === 'quota');
    if (concernsChangeOnly) this.failed([key], failure);
    else this.halt([key], failure);
  }

  /** Whether a change may be sent, in one request. Otherwise it is recorded as not sent. */
  maySend(key: string, deadline: Deadline): boolean {
    if (!this.halting && !deadline.hasTimeFor(1)) this.halting = TIME_IS_OVER;
    this.unsent([key]);
    return this.halting === null;
  }

  /** Records changes as not sent. No effect unless the batch is halted. */
  unsent(keys: readonly string[]): void {
    const failure = this.haltedBy;
    if (!failure) return;
    for (const key of keys) this.results.set(key, failure.unsent.changeResult);
  }
}

const keyOf = (change: RuleChange): string =>
  change.action === 'add' ? ruleKey(change.spec) : change.providerRuleId;
