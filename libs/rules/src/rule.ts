import type { RemovalCause, RuleCause } from './cause';
import type { ChangeResult, DriverErrorKind, ObservedRule, Provider } from './provider';
import type { Room } from './room';
import type { OrganizationId } from './tenancy';

/**
 * Recorded state of a rule. `present`: last observed. `absent`: last observed, never written, or given up. `unknown`: a call
 * was sent, or may be, and its outcome was not observed.
 */
export type RuleState = 'absent' | 'unknown' | 'present';

/** An access path to a target: the credential and the region to call. */
export interface Access {
  readonly credentialId: string;
  readonly region: string | null;
}

/** A rule as the database keeps it; `rule-life.ts` has its states and moves. */
export interface Rule {
  readonly id: string;
  readonly state: RuleState;
  /** incremented with every change of its holders */
  readonly revision: number;
  readonly attempts: number;
  /** null: settled */
  readonly dueAt: Instant | null;
  /** a holder was released */
  readonly closing: boolean;
  readonly inFlightUntil: Instant | null;
  readonly lastError: string | null;
  readonly targetMissingSince: Instant | null;
  /** last observed present as an unmanaged rule */
  readonly isUnmanaged: boolean;
  /** it was present, and another program removed or changed it */
  readonly isMissing: boolean;
  readonly isSuspended: boolean;
  readonly lostCount: number;
  readonly lostAt: Instant | null;
  readonly providerRuleId: string | null;
  /** the access path it was written through */
  readonly credentialId: string | null;
  readonly region: string | null;
  /** why and since when it is unwanted */
  readonly cause: RemovalCause | null;
  readonly unwantedSince: Instant | null;
  /** when it was reported as overdue */
  readonly overdueAt: Instant | null;
  readonly possibleSince: Instant | null;
  readonly presentSince: Instant | null;
  /** when a pass last observed it present */
  readonly observedAt: Instant | null;
  /** when the first removal was sent, or it was first not observed */
  readonly removalSentAt: Instant | null;
  /** as last sent to the host's agent; null: never */
  readonly offeredRevision: number | null;
  /** when a host that it was sent to ends it at the latest, by its own clock; null: not sent */
  readonly offeredUntil: Instant | null;
  /** when the provider ends it by itself, as last observed; null: never, or it was not observed */
  readonly nativeEndAt: Instant | null;
}

/** Of a rule that cannot have been used yet. */
export const NO_INTERVAL = {
  possibleSince: null,
  presentSince: null,
  observedAt: null,
  removalSentAt: null,
} as const;

/** Before anything happens to it. */
export const NEW: Omit<Rule, 'id'> = {
  state: 'absent',
  revision: 0,
  attempts: 0,
  dueAt: null,
  closing: false,
  inFlightUntil: null,
  lastError: null,
  targetMissingSince: null,
  isUnmanaged: false,
  isMissing: false,
  isSuspended: false,
  lostCount: 0,
  lostAt: null,
  providerRuleId: null,
  credentialId: null,
  region: null,
  cause: null,
  unwantedSince: null,
  overdueAt: null,
  offeredRevision: null,
  offeredUntil: null,
  nativeEndAt: null,
  ...NO_INTERVAL,
};

/** A time of the database's clock, ms since 1970. */
export type Instant = number;

/** When a read of the target that a move is based on began and ended, and when the first read of its pass began. */
export interface ReadTimes {
  readonly startedAt: Instant;
  readonly firstStartedAt: Instant;
  readonly endedAt: Instant;
}

/** The database's clock, and the last complete comparison of the target. */
export interface Times {
  readonly now: Instant;
  /** null: none yet */
  readonly comparedAt: Instant | null;
}

/** A rule with its target. */
export interface TargetRule extends Rule {
  readonly targetId: string;
  readonly provider: Provider;
  /** of the target */
  readonly resourceType: string;
  /** identifies the target at its provider */
  readonly identifier: string;
  /** the last complete comparison of the target */
  readonly comparedAt: Instant | null;
  readonly key: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  /** the owner of the credential it was written with */
  readonly writerOrganizationId: OrganizationId | null;
}

/** An access path with the owner of its credential; null: it is deleted. */
export interface OwnedAccess extends Access {
  readonly organizationId: string | null;
}

/** What a read of a target shows. */
export interface TargetRead {
  readonly rules: readonly ObservedRule[];
  /** omitted: no limit is known */
  readonly room?: readonly Room[];
}

/** A read of a target, with start and end on the process clock. */
export interface TimedRead extends TargetRead {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** `renew`: it is present, and ends too early by the provider's own clock. */
export type ChangeAction = 'add' | 'renew' | 'remove';

/** A change that a pass planned, and what came of it. */
export interface SentChange {
  readonly action: ChangeAction;
  readonly cause: RuleCause;
  readonly result: ChangeResult;
}

/** What a pass found. Nothing is derived from it before its rules are locked. */
export interface PassFacts {
  /** before the changes; null: the target was not read */
  readonly firstRead: TimedRead | null;
  /** by rule id */
  readonly sent: ReadonlyMap<string, SentChange>;
  /** after the changes, or the first read when nothing was changed; null: it could not be read */
  readonly lastRead: TimedRead | null;
  /** why it was not read; `postponed`: the pass waits, which is no failure */
  readonly error: { readonly kind: DriverErrorKind | 'postponed'; readonly message: string } | null;
  /** wait requested by the provider or by a denied path; null: none */
  readonly waitMs: number | null;
  /** whose write budget its calls spend; omitted: nothing proves that its credential may write there */
  readonly accountKey?: string;
}
