import type { FaultScope } from '../faults/fault-script';
import type { ProviderName } from '../provider-name';
import type { Clock } from './clock';
import { Journal } from './journal';

/** A call as the call log and the fault script see it. */
export interface ServedCall extends FaultScope {
  /** number of rules that the request names */
  readonly items?: number;
}

/** A client's call to a provider. */
export interface CallEntry {
  /** when it arrived, microseconds since 1970 */
  readonly at: number;
  readonly provider: ProviderName;
  readonly operation: string;
  /** the named targets, comma-separated; null: none */
  readonly target: string | null;
  /** number of rules that the request names */
  readonly items: number;
  /** `OK`, the provider's error code, or `NO_ANSWER` when it is left unanswered; null while in progress */
  outcome: string | null;
}

const CALLS_CAPACITY = 200_000;

/** Calls to providers since the start or the last reset, refused ones included. */
export class CallLog {
  readonly journal = new Journal<CallEntry>(CALLS_CAPACITY);

  constructor(private readonly clock: Clock) {}

  /** Appends a call; the caller sets the outcome of the returned entry later. */
  arrive({ provider, operation, targets, items = 0 }: ServedCall): CallEntry {
    const target = targets.length === 0 ? null : [...new Set(targets)].join(',');
    const entry: CallEntry = { at: this.clock.now(), provider, operation, target, items, outcome: null };
    this.journal.append(entry);
    return entry;
  }
}
