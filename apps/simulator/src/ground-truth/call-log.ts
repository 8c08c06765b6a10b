import type { ProviderName } from '../provider-name';
import type { Clock } from './clock';
import { Journal } from './journal';

/** One call a client made to a provider. */
export interface CallEntry {
  /** when it arrived, microseconds since 1970 */
  readonly at: number;
  readonly provider: ProviderName;
  readonly operation: string;
  /** the targets it names, joined by a comma; null when it names none */
  target: string | null;
  /** rules the request names */
  items: number;
  /** `OK`, the provider's error code, `NO_ANSWER` when it is left hanging; null while under way */
  outcome: string | null;
}

const CALLS_CAPACITY = 200_000;

/** Every call to a provider since the start or the last reset, refused ones included. */
export class CallLog {
  readonly journal = new Journal<CallEntry>(CALLS_CAPACITY);

  constructor(private readonly clock: Clock) {}

  /** Notes the arrival of a call; what becomes known later is written into the entry returned. */
  arrive(provider: ProviderName, operation: string): CallEntry {
    const entry: CallEntry = {
      at: this.clock.now(),
      provider,
      operation,
      target: null,
      items: 0,
      outcome: null,
    };
    this.journal.append(entry);
    return entry;
  }
}
