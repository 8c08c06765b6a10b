import type { AdditionCause, RemovalCause } from './cause';
import type { RuleState } from './planner';

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
  /** ours by its provider id alone */
  readonly isUnmarked: boolean;
  /** it was present and disappeared */
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
}

/** Of a rule that nobody can have used yet. */
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
  isUnmarked: false,
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

/** What a pass settled for one rule. Written under the lease of the pass. */
export interface RuleSettlement {
  readonly ruleId: string;
  /** the revision that was read: the rule stays due if it has changed since */
  readonly revision: number;
  /** null: unchanged */
  readonly state: RuleState | null;
  /** observed present in this pass */
  readonly observedPresent: boolean;
  /** it is desired, and another program changed it: until it is observed as it was written, it counts as missing */
  readonly isChanged?: boolean;
  /** present under its recorded id in the first read of this pass */
  readonly presentAtStart: boolean;
  readonly providerRuleId: string | null;
  /** null: unchanged */
  readonly isUnmanaged: boolean | null;
  /** ours by its provider id alone; null: unchanged */
  readonly isUnmarked: boolean | null;
  readonly attempts: number;
  /** ms until the next pass; null: settled */
  readonly dueInMs: number | null;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  readonly message: string | null;
  /** the target is missing through the access path the rule was written through; null: unchanged */
  readonly targetMissing: boolean | null;
  /** the addition is given up for the waiting holders */
  readonly failed: boolean;
  /** why `failed`: the target holds no addresses of this IP version */
  readonly wrongFamily?: true;
  /** the removal cause; null: the rule is desired */
  readonly unwanted: RemovalCause | null;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** the access path to remove it through from now on; null: unchanged */
  readonly adopt: Access | null;
}
