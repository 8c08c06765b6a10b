import { isDeepStrictEqual } from 'node:util';
import type { DriverError } from '#drivers';
import type { DueRuleRow, RuleSettlement } from '#engine-store';
import {
  observedAsRecorded,
  judgeUnreadable,
  RETRYABLE_KINDS,
  type ChangeResult,
  type Verdict,
} from '#rules';
import type { FailedChange } from './convergence-observer';
import type { Pass } from './passes';
import type { Remark } from './rule-events';
import { accessToAdopt, postponed, settlement } from './settle-rule';
import type { TimedRead } from './timed-read';

/** Outcome of a pass. */
export type PassOutcome =
  /** the target was not read: the write budget is spent or the credential was denied recently */
  | { readonly kind: 'postponed'; readonly waitMs: number; readonly message: string }
  | { readonly kind: 'unreadable'; readonly error: DriverError }
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
      /** the provider denied a write with this credential */
      readonly isDenied: boolean;
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
      return unreadable(pass, outcome.error, random);
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

function unreadable(pass: Pass, error: DriverError, random: () => number): RuleSettlement[] {
  const isWrittenThrough = (rule: DueRuleRow): boolean => {
    const { credentialId, region } = pass.access;
    return isDeepStrictEqual(rule.writtenWith, { credentialId, region });
  };
  const missingMs = new Map(
    pass.rules.filter(isWrittenThrough).map((rule) => [rule.ruleId, rule.targetMissingMs ?? 0]),
  );
  // one backoff for all: the next read serves all of them
  const attempts = Math.max(...pass.rules.map((rule) => rule.attempts));
  const chance = random();
  const rules = pass.rules.map((rule) => ({ ...rule, attempts }));
  return judgeUnreadable(rules, error.kind, error.message, missingMs).map((verdict) => {
    const isMissing = error.kind === 'target-missing' && verdict.kind !== 'absent';
    return {
      ...settlement(verdict, false, error.retryAfterMs, chance),
      targetMissing: (isMissing && isWrittenThrough(verdict.rule)) || null,
    };
  });
}

/** What to record of each rule besides its state. */
export function remarksOf(outcome: PassOutcome, pass: Pass): Map<string, Remark> {
  if (outcome.kind === 'postponed') return new Map();
  if (outcome.kind === 'unreadable') return remarksOnUnreadable(outcome.error, pass);
  const unmarked = new Set(outcome.unmarked.map(({ ruleId }) => ruleId));
  return new Map(
    outcome.verdicts.map((verdict): [string, Remark] => {
      const { ruleId, desired } = verdict.rule;
      const isRefused = verdict.kind === 'retry' && verdict.refused && !desired && verdict.message !== null;
      const isChanged = verdict.kind === 'absent' && verdict.changedTo !== null;
      return [
        ruleId,
        {
          ...(unmarked.has(ruleId) ? { unmarked: true } : {}),
          ...(isRefused ? { refusal: verdict.message } : {}),
          ...(isChanged ? { changedTo: verdict.changedTo } : {}),
        },
      ];
    }),
  );
}

function remarksOnUnreadable({ kind, message }: DriverError, { rules }: Pass): Map<string, Remark> {
  if (RETRYABLE_KINDS.has(kind)) return new Map();
  const unwanted = rules.filter((rule) => !rule.desired && rule.state !== 'absent');
  const remark: Remark = kind === 'target-missing' ? { gone: message } : { refusal: message };
  return new Map(unwanted.map(({ ruleId }) => [ruleId, remark]));
}
