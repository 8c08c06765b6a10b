import type { NotedTarget, Reading } from '#engine-store';
import type { Decided, DueRule, Instant, Moment, NativeExpiry, OwnedAccess, TargetRule } from '#rules';

/** The result of a pass or of an agent's report, to be written. */
export interface Settlement {
  /** of the rules that are settled */
  readonly ruleIds: readonly string[];
  /** what they become: called once they are locked, and again when the transaction is repeated */
  readonly decide: (rules: readonly DueRule[], moment: Moment) => readonly Decided[];
  /** the rules as the pass took them, without its own intents */
  readonly taken?: ReadonlyMap<string, DueRule>;
  /** the access path of the pass; null or omitted: there was none */
  readonly access?: OwnedAccess | null;
  /** current age of the reads it is based on; null or omitted: the target was not read */
  readonly reading?: (() => Reading) | null;
  /** whether the last read showed a rule as it was written */
  readonly isShown?: (rule: TargetRule) => boolean;
  /** ResourceIps that were PENDING by then wait for this pass; null or omitted: all that are */
  readonly since?: Instant | null;
  /** what is to be recorded of the target besides; null or omitted: nothing */
  readonly news?: NotedTarget | null;
  /** for the back-off */
  readonly chance: number;
  /** how long an addition may take; as long as usual when left out */
  readonly applyTimeoutMs?: number;
  /** how the provider ends its rules by itself; null or omitted: it does not */
  readonly expiry?: NativeExpiry | null;
  /** the provider does not find the target: what was never let in there is given up sooner */
  readonly isNotFound?: boolean;
  /** the target could not be read: align the retries of its other rules with these */
  readonly alignRetries?: boolean;
  /** an answer is still expected: ResourceIps that wait do not show the messages of the rules */
  readonly isAwaited?: boolean;
}

/** What became of rules, by id. */
export type Decisions = ReadonlyMap<string, Decided>;
