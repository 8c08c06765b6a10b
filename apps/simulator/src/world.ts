import { Accounts } from './accounts/accounts';
import { FaultScript } from './faults/fault-script';
import { CallLog } from './ground-truth/call-log';
import { Clock } from './ground-truth/clock';
import { Ledger } from './ground-truth/ledger';
import type { World } from './provider';
import { Roles } from './roles/roles';
import type { Sizes } from './sizes';
import { TokenBuckets } from './throttle/token-buckets';
import { Trusts } from './web-identity/trusts';

/** The state that the providers share: one clock, one ledger, one call log, one fault script. */
export class SimulatedWorld implements World {
  readonly clock = new Clock();
  readonly ledger = new Ledger(this.clock);
  readonly calls = new CallLog(this.clock);
  readonly faults = new FaultScript();
  readonly buckets = new TokenBuckets();
  readonly trusts = new Trusts();
  readonly roles = new Roles();
  readonly accounts = new Accounts();
  epoch = 0;

  constructor(readonly sizes: Sizes) {}

  /** Clears the ledger, the call log, the faults, the rates, the trusts, withdrawn permissions and further accounts. */
  reset(): void {
    this.epoch += 1;
    this.ledger.clear();
    this.calls.journal.clear();
    this.faults.clear();
    this.buckets.clear();
    this.trusts.clear();
    this.roles.clear();
    this.accounts.clear();
  }
}
