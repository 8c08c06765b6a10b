import { isDeepStrictEqual } from 'node:util';
import type { DriverError } from '#drivers';
import type { DueRuleRow, OwnedAccess } from '#engine-store';
import {
  backoffMs,
  HOLDING_STATUSES,
  observedAsRecorded,
  judgeUnreadable,
  RETRYABLE_KINDS,
  RULE_BACKOFF,
  type ChangeResult,
  type DriverErrorKind,
  type RuleState,
  type Verdict,
  type Access,
  type RuleSettlement,
} from '#rules';
import type { Pass } from './access-paths';
import { changedMessage } from './rule-events';
import { longestWait, RESTORED, type TimedRead } from './provider-calls';

/** Why a change was not done: refused as, or without an answer. */
export type FailedChange = DriverErrorKind | 'unknown';

/** Outcome of a pass. */
export type PassOutcome =
  /** the target was not read: the write budget is spent, or the additions were denied recently */
  | { readonly kind: 'postponed'; readonly waitMs: number; readonly message: string }
  | {
      readonly kind: 'unreadable';
      readonly error: DriverError;
      /** of removals that were sent nevertheless, by rule id */
      readonly results: ReadonlyMap<string, ChangeResult>;
    }
  | {
      readonly kind: 'read';
      readonly verdicts: readonly Verdict<DueRuleRow>[];
      readonly read: TimedRead;
      /** before the changes; the same read when nothing was changed */
      readonly firstRead: TimedRead;
      /** ours by their recorded id alone, at the start of the pass */
      readonly unmarked: readonly DueRuleRow[];
      /** what another program made of desired rules before the pass, as phrases by rule id */
      readonly changed: ReadonlyMap<string, string>;
      /** of the changes, by rule id */
      readonly results: ReadonlyMap<string, ChangeResult>;
      /** wait requested by the provider or by the write budget; null: none */
      readonly waitMs: number | null;
    };

/** Why a change was not done; null: it was. */
export const failureOf = (result: ChangeResult): FailedChange | null =>
  result.result === 'done' ? null : result.result === 'refused' ? result.kind : 'unknown';

/** Whether the provider says that the target does not exist. */
export const isNotFound = (outcome: PassOutcome): boolean =>
  outcome.kind === 'unreadable'
    ? outcome.error.kind === 'target-missing'
    : outcome.kind === 'read' &&
      [...outcome.results.values()].some((result) => failureOf(result) === 'target-missing');

/** How a pass ended, for metrics; null: the target was neither read nor changed. */
export function endOf(outcome: PassOutcome): 'ok' | FailedChange | null {
  if (outcome.kind === 'postponed') return null;
  if (outcome.kind === 'unreadable') return outcome.error.kind;
  const failures = [...outcome.results.values()].map(failureOf);
  return failures.find((failure) => failure !== null) ?? 'ok';
}

/** The settlement of each rule of the pass. @param random for the jitter of the next attempt */
export function settlementsOf(pass: Pass, outcome: PassOutcome, random: () => number): RuleSettlement[] {
  switch (outcome.kind) {
    case 'postponed':
      return postponed(pass.rules, outcome.waitMs, outcome.message);
    case 'unreadable':
      return unreadable(pass, outcome, random);
    case 'read': {
      // one jitter for all: rules that failed together are retried in one call
      const chance = random();
      const presentAtStart = observedAsRecorded(pass.rules, outcome.firstRead.rules);
      return outcome.verdicts.map((verdict) => ({
        ...settlement(verdict, true, outcome.waitMs, chance),
        presentAtStart: presentAtStart.has(verdict.rule.ruleId),
        adopt: verdict.kind === 'present' ? accessToAdopt(verdict.rule, pass.access) : null,
      }));
    }
  }
}

/** An addition on a target that is not found is looked at this often, until it is given up or has waited for long. */
const NOT_FOUND_RETRY_MS = 5000;
const NOT_FOUND_ATTEMPTS = 12;

export type Unreadable = PassOutcome & { readonly kind: 'unreadable' };

const isWrittenThrough = ({ credentialId, region }: Access, rule: DueRuleRow): boolean =>
  isDeepStrictEqual(rule.writtenWith, { credentialId, region });

function unreadable(pass: Pass, outcome: Unreadable, random: () => number): RuleSettlement[] {
  const { error } = outcome;
  const chance = random();
  return unreadVerdicts(pass, outcome).map((verdict) => {
    const isMissing = error.kind === 'target-missing' && verdict.kind !== 'absent';
    const found = settlement(verdict, false, longestWait(outcome.results) ?? error.retryAfterMs, chance);
    const { desired, state, attempts } = verdict.rule;
    const isSoonOver = isMissing && desired && state === 'absent' && attempts < NOT_FOUND_ATTEMPTS;
    return {
      ...found,
      dueInMs: isSoonOver ? Math.min(found.dueInMs ?? NOT_FOUND_RETRY_MS, NOT_FOUND_RETRY_MS) : found.dueInMs,
      targetMissing: (isMissing && isWrittenThrough(pass.access, verdict.rule)) || null,
    };
  });
}

/** The verdicts on rules of a target that could not be read. */
export function unreadVerdicts(
  { access, rules }: Pass,
  { error, results }: Unreadable,
): Verdict<DueRuleRow>[] {
  const missingMs = new Map(
    rules
      .filter((rule) => isWrittenThrough(access, rule))
      .map((rule) => [rule.ruleId, rule.targetMissingMs ?? 0]),
  );
  // one backoff for all: the next read serves all of them
  const attempts = Math.max(...rules.map((rule) => rule.attempts));
  const aligned = rules.map((rule) => ({ ...rule, attempts }));
  return judgeUnreadable(aligned, error.kind, error.message, missingMs).map((verdict) =>
    withRemovalSent(verdict, results.get(verdict.rule.ruleId), error),
  );
}

/** The verdict on a rule whose removal was sent to a target that may not be read: in doubt until a read shows its absence. */
function withRemovalSent(
  verdict: Verdict<DueRuleRow>,
  result: ChangeResult | undefined,
  { message }: DriverError,
): Verdict<DueRuleRow> {
  const { rule } = verdict;
  if (verdict.kind !== 'retry' || rule.desired) return verdict;
  if (result?.result === 'refused')
    return { ...verdict, message: result.message, refused: !RETRYABLE_KINDS.has(result.kind) };
  if (result) {
    const sent = `The removal was sent, and the target cannot be read: ${message}`;
    return { ...verdict, message: sent, unknown: true, refused: false };
  }
  // the removal that was sent may still take effect
  const isAwaited = verdict.refused && rule.inFlight && rule.lastError !== null;
  return isAwaited ? { ...verdict, message: rule.lastError, refused: false } : verdict;
}

const MIN_RETRY_MS = 200;

/** The settlement of a rule that needs no read of the target. */
function localSettlement(rule: DueRuleRow): RuleSettlement {
  // unwanted rules here are abandoned, absent or were never written
  return {
    ...base(rule),
    state: rule.desired ? null : 'absent',
    dueInMs: null,
    inFlight: rule.inFlight && rule.desired,
  };
}

/** Keeps the rule due; only its released holders are settled. */
function stillDue(rule: DueRuleRow): RuleSettlement {
  return { ...base(rule), attempts: rule.attempts, dueInMs: 0 };
}

/** Settlements that need no read of the target. @param kept rules whose released holders are settled */
export const localSettlements = (
  settled: readonly DueRuleRow[],
  kept: readonly DueRuleRow[],
): Map<DueRuleRow, RuleSettlement> =>
  new Map([
    ...settled.map((rule) => [rule, localSettlement(rule)] as const),
    ...kept.map((rule) => [rule, stillDue(rule)] as const),
  ]);

/**
 * Settlements of rules whose target was not read. They do not count as failed attempts.
 * @param waitMs until the next attempt
 * @param message the reason, shown to users
 */
export const postponed = (rules: readonly DueRuleRow[], waitMs: number, message: string): RuleSettlement[] =>
  rules.map((rule) => ({
    ...settlement(
      { rule, kind: 'retry', message, unknown: false, observedPresent: false, refused: false },
      false,
      waitMs,
      0,
    ),
    attempts: rule.attempts,
  }));

/**
 * Converts a verdict to a settlement.
 * @param wasRead the target was read, so that a failed addition is known to be absent
 * @param waitMs wait requested by the provider or its budget; null: back off
 * @param chance 0 (inclusive) to 1 (exclusive), for the jitter of the next attempt
 */
export function settlement(
  verdict: Verdict<DueRuleRow>,
  wasRead: boolean,
  waitMs: number | null,
  chance: number,
): RuleSettlement {
  const { rule } = verdict;
  const settled = { ...base(rule), targetMissing: wasRead ? false : null };
  // a requested wait is capped: a removal cannot wait for an hour
  const given = waitMs === null ? null : Math.min(waitMs, RULE_BACKOFF.capMs);
  const again = Math.max(MIN_RETRY_MS, given ?? backoffMs(RULE_BACKOFF, rule.attempts + 1, chance));
  switch (verdict.kind) {
    case 'present':
      return {
        ...settled,
        state: 'present',
        observedPresent: true,
        providerRuleId: verdict.providerRuleId,
        isUnmanaged: verdict.unmanaged,
        isUnmarked: verdict.unmarked,
        inFlight: rule.inFlight || verdict.unknown,
        // a removal in flight may still take effect: one more pass after its deadline
        dueInMs: rule.inFlight ? rule.inFlightMs + MIN_RETRY_MS : null,
        message: verdict.noEffect ?? null,
        failed: verdict.noEffect !== undefined,
      };
    case 'absent':
      return {
        ...settled,
        state: 'absent',
        isUnmanaged: false,
        isUnmarked: false,
        inFlight: false,
        // its remaining holders now write it through their own access paths
        dueInMs: rule.removeCause === 'WRITER_RELEASED' ? 0 : null,
      };
    case 'retry':
      return { ...settled, ...retried(verdict, wasRead, again) };
    case 'failed': {
      const heldByOthers = rule.holders.some((holder) => holder.status === 'APPLIED');
      return {
        ...settled,
        state: wasRead ? (rule.inFlight ? 'unknown' : 'absent') : null,
        attempts: rule.attempts + 1,
        dueInMs: heldByOthers ? again : null,
        message: verdict.message,
        failed: true,
        ...(verdict.refusedAs === 'wrong-family' && { wrongFamily: true as const }),
      };
    }
  }
}

function retried(
  {
    rule,
    message,
    createdId,
    changedTo,
    againInMs = Infinity,
    unknown,
    observedPresent,
  }: Verdict<DueRuleRow> & { kind: 'retry' },
  wasRead: boolean,
  again: number,
): Pick<
  RuleSettlement,
  | 'state'
  | 'observedPresent'
  | 'providerRuleId'
  | 'attempts'
  | 'dueInMs'
  | 'inFlight'
  | 'message'
  | 'isChanged'
> {
  const inFlight = unknown || rule.inFlight;
  const awaitsLanding = rule.inFlight && !rule.desired;
  // not a failure of its target, unless that says so
  const isHeldBack = rule.isHeldBack && message === null;
  const isChanged = rule.desired && changedTo !== undefined;
  const wait = isHeldBack ? RULE_BACKOFF.capMs : Math.min(again, againInMs + MIN_RETRY_MS);
  return {
    state: wasRead && rule.desired ? unsettled(rule, inFlight) : null,
    observedPresent: wasRead && observedPresent,
    providerRuleId: createdId ?? null,
    attempts: rule.attempts + (isHeldBack ? 0 : 1),
    dueInMs: awaitsLanding ? Math.min(wait, rule.inFlightMs + MIN_RETRY_MS) : wait,
    inFlight,
    message: isHeldBack ? RESTORED : (message ?? (isChanged ? changedMessage(changedTo) : null)),
    ...(isChanged && { isChanged }),
  };
}

/** The state of a desired rule that was not observed. An absent rule without a call in flight stays absent, so that it is not
 * claimed as ours. */
const unsettled = ({ state }: DueRuleRow, inFlight: boolean): RuleState =>
  state === 'absent' && !inFlight ? 'absent' : 'unknown';

/**
 * The access path for the later removal of a present rule. It changes to that of this pass when no holder uses the one the
 * rule was written through, so that the old credential can be deleted. A path of another organization must be write-verified,
 * because a read-only credential could not remove the rule.
 * @returns null: unchanged
 */
export function accessToAdopt(rule: DueRuleRow, access: OwnedAccess): Access | null {
  const isRecorded = (path: Access): boolean =>
    path.credentialId === rule.writtenWith?.credentialId && path.region === rule.writtenWith.region;
  if (isRecorded(access)) return null;
  const live = rule.holders.filter(({ status }) => HOLDING_STATUSES.some((holding) => holding === status));
  if (live.some((holder) => isRecorded(holder.access))) return null;
  const isWritersOwn =
    rule.writerOrganizationId === null || rule.writerOrganizationId === access.organizationId;
  const isVerified = live.some(
    (holder) => holder.writeVerified && isDeepStrictEqual(plain(holder.access), plain(access)),
  );
  return isWritersOwn || isVerified ? plain(access) : null;
}

const plain = ({ credentialId, region }: Access): Access => ({ credentialId, region });

function base(rule: DueRuleRow): RuleSettlement {
  return {
    ruleId: rule.ruleId,
    revision: rule.revision,
    state: null,
    observedPresent: false,
    presentAtStart: false,
    providerRuleId: null,
    isUnmanaged: null,
    isUnmarked: null,
    attempts: 0,
    dueInMs: null,
    // of two additions without an answer, one may be observed while the other is still in flight
    inFlight: rule.inFlight,
    message: null,
    targetMissing: null,
    failed: false,
    unwanted: rule.desired ? null : rule.removeCause,
    addCause: rule.addCause,
    adopt: null,
  };
}
