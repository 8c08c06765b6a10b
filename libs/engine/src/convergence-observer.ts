import type { LedgerRow } from '#engine-store';
import type { DriverErrorKind, Provider } from '#rules';
import type { FailureObserver } from './isolation';

/** Receives events, for metrics and logs. */
export interface ConvergenceObserver extends FailureObserver {
  passEnded(provider: Provider, outcome: 'ok' | DriverErrorKind): void;
  ruleClosed(provider: Provider, latenessSeconds: number): void;
  /** The ledger rows of a pass, after their commit. */
  eventsRecorded(events: readonly LedgerRow[]): void;
}
