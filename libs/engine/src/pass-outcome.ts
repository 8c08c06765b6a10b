import { isDeepStrictEqual } from 'node:util';
import type { DriverError } from '#drivers';
import type { DueRuleRow } from '#engine-store';
import {
  observedAsRecorded,
  judgeUnreadable,
  RETRYABLE_KINDS,
  UnmanagedRules,
  type ChangeResult,
  type Verdict,
  type Access,
  type RuleSettlement,
} from '#rules';
import { longestWait } from './changes';
import type { FailedChange } from './convergence-observer';
import type { Pass } from './access-paths';
import type { Remark } from './rule-events';
import { accessToAdopt, postponed, settlement } from './settle-rule';
import type { TimedRead } from './timed-read';

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
      /** of the changes, by rule id */
      readonly results: ReadonlyMap<string, ChangeResult>;
      /** wait requested by the provider or by the write budget; null: none */
      readonly waitMs: number | null;
    };

/** Why a change was not done; null: it was. */
export const failureOf = (result: ChangeResult): FailedChange | null =>
  result.result === 'done' ? null : result.result === 'refused' ? result.kind : 'unknown';

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

type Unreadable = PassOutcome & { readonly kind: 'unreadable' };

const isWrittenThrough = ({ credentialId, region }: Access, rule: DueRuleRow): boolean =>
  isDeepStrictEqual(rule.writtenWith, { credentialId, region });

function unreadable(pass: Pass, outcome: Unreadable, random: () => number): RuleSettlement[] {
  const { error } = outcome;
  const chance = random();
  return unreadVerdicts(pass, outcome).map((verdict) => {
    const isMissing = error.kind === 'target-missing' && verdict.kind !== 'absent';
    return {
      ...settlement(verdict, false, longestWait(outcome.results) ?? error.retryAfterMs, chance),
      targetMissing: (isMissing && isWrittenThrough(pass.access, verdict.rule)) || null,
    };
  });
}

function unreadVerdicts({ access, rules }: Pass, { error, results }: Unreadable): Verdict<DueRuleRow>[] {
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

/** What to record of each rule besides its state. */
export function remarksOf(outcome: PassOutcome, pass: Pass): Map<string, Remark> {
  if (outcome.kind === 'postponed') return new Map();
  if (outcome.kind === 'unreadable') return remarksOnUnreadable(outcome, pass);
  const unmarked = new Set(outcome.unmarked.map(({ ruleId }) => ruleId));
  const unmanaged = new UnmanagedRules(outcome.read.rules);
  return new Map(
    outcome.verdicts.map((verdict): [string, Remark] => {
      const { ruleId, desired, key } = verdict.rule;
      const isRefused = verdict.kind === 'retry' && verdict.refused && !desired && verdict.message !== null;
      const isChanged = verdict.kind === 'absent' && verdict.changedTo !== null;
      return [
        ruleId,
        {
          ...(unmarked.has(ruleId) ? { unmarked: true } : {}),
          ...(isRefused ? { refusal: verdict.message } : {}),
          ...(isChanged ? { changedTo: verdict.changedTo } : {}),
          ...(verdict.kind === 'absent' ? { stillAllowedBy: unmanaged.lettingIn(key) } : {}),
          ...(unmanaged.has(key) ? { isUnmanagedPresent: true } : {}),
          ...(verdict.kind === 'absent' && verdict.note !== undefined ? { note: verdict.note } : {}),
        },
      ];
    }),
  );
}

function remarksOnUnreadable(outcome: Unreadable, pass: Pass): Map<string, Remark> {
  const { kind, message } = outcome.error;
  const unwanted = unreadVerdicts(pass, outcome).filter(
    ({ rule }) => !rule.desired && rule.state !== 'absent',
  );
  return new Map(
    unwanted.flatMap((verdict): [string, Remark][] => {
      const { ruleId } = verdict.rule;
      if (kind === 'target-missing')
        return [[ruleId, { givenUp: { cause: 'TARGET_GONE', reason: message } }]];
      const isRefused = verdict.kind === 'retry' && verdict.refused && verdict.message !== null;
      return isRefused ? [[ruleId, { refusal: verdict.message }]] : [];
    }),
  );
}
