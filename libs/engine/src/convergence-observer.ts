import type { LedgerRow } from '#engine-store';
import type { PlannedChange, Provider } from '#rules';
import type { FailedChange } from './provider-calls';

/** Receives events, for metrics and logs. */
export interface ConvergenceObserver {
  /** An unexpected failure while rules were worked on. */
  failed(provider: Provider, ruleIds: readonly string[], error: unknown): void;
  /** `ok`: the target was read, and every change of the pass was done. */
  passEnded(provider: Provider, outcome: 'ok' | FailedChange): void;
  /** The provider's answer to one change. */
  changeAnswered(provider: Provider, action: PlannedChange['action'], outcome: 'done' | FailedChange): void;
  ruleClosed(provider: Provider, latenessSeconds: number): void;
  /** The ledger rows of a pass, after their commit. */
  eventsRecorded(events: readonly LedgerRow[]): void;
}
