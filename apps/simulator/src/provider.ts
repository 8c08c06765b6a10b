import type { IncomingHttpHeaders } from 'node:http';
import type { CallLog } from './ground-truth/call-log';
import type { Clock } from './ground-truth/clock';
import type { Ledger, OpenRule } from './ground-truth/ledger';
import type { CallEffect, FaultScript } from './faults/fault-script';
import type { ProviderName } from './provider-name';

/** A request as it came in: the path with its provider prefix, because signatures cover it. */
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

/** A rule as someone with the provider's console would make it. */
export interface UnmanagedRuleSpec {
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number | null;
  readonly toPort: number | null;
  readonly description: string | undefined;
}

/** Which rules of a target to remove; undefined fits every value. */
export interface UnmanagedRuleFilter {
  readonly target: string;
  readonly address: string | undefined;
  readonly protocol: string | undefined;
  readonly fromPort: number | undefined;
  readonly toPort: number | undefined;
}

/** What another program makes of a rule; undefined: as it was. */
export interface UnmanagedRuleChange {
  readonly address: string | undefined;
  readonly protocol: string | undefined;
  readonly fromPort: number | undefined;
  readonly toPort: number | undefined;
  /** an empty one takes it away, and our mark with it */
  readonly description: string | undefined;
}

/** The provider refuses what another program asked for, in its own words. */
export class OutsideEditRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'OutsideEditRefused';
  }
}

/** One simulated cloud. It answers everything below its prefix and keeps its own objects. */
export interface CloudProvider {
  readonly provider: ProviderName;
  /** path prefix, `/aws` */
  readonly prefix: string;
  /** the targets it knows, by their own names */
  readonly targets: readonly string[];
  /** the operations faults may name */
  readonly operations: Readonly<Record<string, CallEffect>>;
  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER>;
  /** @throws OutsideEditRefused */
  addUnmanagedRule(rule: UnmanagedRuleSpec): OpenRule;
  /** Removes every rule that fits, ours included. @throws OutsideEditRefused when the filter is no rule */
  removeRules(filter: UnmanagedRuleFilter): OpenRule[];
  /** Changes every rule that fits in place, ours included. @throws OutsideEditRefused */
  changeRules?(filter: UnmanagedRuleFilter, change: UnmanagedRuleChange): OpenRule[];
  /** Refuses every access token and session that was issued so far; left out: it issues none. */
  revokeTokens?(): void;
  /** Back to the objects it started with. */
  reset(): void;
}

/** What every provider works with. */
export interface World {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly calls: CallLog;
  readonly faults: FaultScript;
  /** counts the resets: a call that arrived before one must not touch what comes after it */
  readonly epoch: number;
}
