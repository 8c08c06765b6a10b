import type { IncomingHttpHeaders } from 'node:http';
import type { Accounts } from './accounts/accounts';
import type { CallLog } from './ground-truth/call-log';
import type { Clock } from './ground-truth/clock';
import type { Ledger, OpenRule } from './ground-truth/ledger';
import type { CallEffect, FaultScript } from './faults/fault-script';
import type { ProviderName } from './provider-name';
import type { Roles } from './roles/roles';
import type { Sizes } from './sizes';
import type { TokenBuckets } from './throttle/token-buckets';
import type { Trusts } from './web-identity/trusts';

/** An incoming request. The path includes the provider's prefix, because signatures cover it. */
export interface CloudRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** the world's epoch when it arrived */
  readonly epoch: number;
}

export interface CloudAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `OK` or the provider's error code, for the call log */
  readonly outcome: string;
}

/** The provider never answers: the connection stays open until the client hangs up. */
export const NO_ANSWER = 'NO_ANSWER';

/** A rule that another program adds, as with the provider's console. */
export interface UnmanagedRuleSpec {
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number | null;
  readonly toPort: number | null;
  readonly description: string | undefined;
  /** it denies its traffic; this and the next two where rules are ordered (`CloudProvider.hasDenials`) */
  readonly isDenial?: boolean;
  /** undefined: the provider's default */
  readonly priority?: number | undefined;
  /** the part of the target that the rule applies to, as the provider names it; undefined: all of it */
  readonly part?: string | undefined;
}

/** Another program's change of a rule; undefined leaves a field unchanged. */
export interface UnmanagedRuleChange {
  readonly address: string | undefined;
  readonly protocol: string | undefined;
  readonly fromPort: number | undefined;
  readonly toPort: number | undefined;
  /** empty: removes the description and the ownership mark in it */
  readonly description: string | undefined;
  /** fields of the rule as the provider's API names them, where it has more */
  readonly fields?: object | undefined;
}

/** What a lock on a target keeps everybody from doing. */
export const LOCK_LEVELS = ['CanNotDelete', 'ReadOnly'] as const;
export type LockLevel = (typeof LOCK_LEVELS)[number];

/** One simulated cloud. It answers all requests below its prefix and holds its own objects. */
export interface CloudProvider {
  readonly provider: ProviderName;
  /** path prefix, `/aws` */
  readonly prefix: string;
  readonly targets: readonly string[];
  /** operations that a fault can name */
  readonly operations: Readonly<Record<string, CallEffect>>;
  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER>;
  /** its rules can deny, have priorities, and may apply to a part of the target */
  readonly hasDenials?: true;
  /** @returns the id of the open rule; null for a denial, which opens nothing @throws CloudError */
  addUnmanagedRule(rule: UnmanagedRuleSpec): string | null;
  /** Removes the target's rules behind open ones, ours included. @throws CloudError */
  removeRules(target: string, open: readonly OpenRule[]): void;
  /** Changes the target's rules behind open ones in place, ours included. @throws CloudError */
  changeRules?(target: string, open: readonly OpenRule[], change: UnmanagedRuleChange): void;
  /** Sets the lock on a target, or takes it away; absent when the provider has no locks. */
  lock?(target: string, level: LockLevel | undefined): void;
  /**
   * Sets the firewall policies that the cloud shows for a target, in its own form; absent when it has none. They open and
   * deny nothing here. @param isFirst the target's own policies come before its rules
   */
  setPolicies?(target: string, policies: readonly object[], isFirst: boolean): void;
  /** Sets its clock before the machine's; absent when nothing in it ends by itself. */
  setClockAhead?(milliseconds: number): void;
  /** Refuses every access token and session issued so far; absent when it issues none. */
  revokeTokens?(): void;
  /** Its objects, for `restore` after a restart. */
  save(): unknown;
  restore(saved: unknown): void;
  /** Restores the initial objects. */
  reset(): void;
}

/** State shared by all providers. */
export interface World {
  readonly sizes: Sizes;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly calls: CallLog;
  readonly faults: FaultScript;
  readonly buckets: TokenBuckets;
  readonly trusts: Trusts;
  readonly roles: Roles;
  readonly accounts: Accounts;
  /** number of resets: a call that arrived before a reset must not change the state after it */
  readonly epoch: number;
}
