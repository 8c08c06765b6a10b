import { isDeepStrictEqual } from 'node:util';
import type { DriverError } from '#drivers';
import type { DueRuleRow, RuleSettlement } from '#engine-store';
import { asRecorded, judgeUnreadable, RETRYABLE_KINDS, type Verdict } from '#rules';
import type { Pass } from './passes';
import type { Remark } from './rule-events';
import { adopted, postponed, settlement } from './settle-rule';
import type { TimedRead } from './timed-read';

/** What one pass came to. */
export type PassOutcome =
  /** the target was not asked: its account or its credential may not be used yet */
  | { readonly kind: 'postponed'; readonly waitMs: number; readonly message: string }
  | { readonly kind: 'unreadable'; readonly error: DriverError }
  | {
      readonly kind: 'read';
      readonly verdicts: readonly Verdict<DueRuleRow>[];
      readonly read: TimedRead;
      /** before anything was changed; the same when nothing was */
      readonly firstRead: TimedRead;
      /** ours by their recorded id alone, when the pass began */
      readonly unmarked: readonly DueRuleRow[];
      /** the provider asked us to wait, or its budget is spent */
      readonly waitMs: number | null;
      /** the provider does not let this credential write */
      readonly isDenied: boolean;
    };

/** What to write for each rule of the pass. @param random for the jitter of the next try */
export function settlementsOf(pass: Pass, outcome: PassOutcome, random: () => number): RuleSettlement[] {
  switch (outcome.kind) {
    case 'postponed':
      return postponed(pass.rules, outcome.waitMs, outcome.message);
    case 'unreadable':
      return unreadable(pass, outcome.error, random);
    case 'read': {
      // those that failed alike come back together, in one call
      const chance = random();
      const stoodBefore = asRecorded(pass.rules, outcome.firstRead.rules);
      return outcome.verdicts.map((verdict) => ({
        ...settlement(verdict, true, outcome.waitMs, chance),
        stoodBefore: stoodBefore.has(verdict.rule.ruleId),
        adopt: verdict.kind === 'present' ? adopted(verdict.rule, pass.access) : null,
      }));
    }
  }
}

function unreadable(pass: Pass, error: DriverError, random: () => number): RuleSettlement[] {
  const isWrittenThisWay = (rule: DueRuleRow): boolean => {
    const { credentialId, region } = pass.access;
    return isDeepStrictEqual(rule.writtenWith, { credentialId, region });
  };
  const missingMs = new Map(
    pass.rules.filter(isWrittenThisWay).map((rule) => [rule.ruleId, rule.targetMissingMs ?? 0]),
  );
  // one read will do for all of them: they come back together
  const attempts = Math.max(...pass.rules.map((rule) => rule.attempts));
  const chance = random();
  const rules = pass.rules.map((rule) => ({ ...rule, attempts }));
  return judgeUnreadable(rules, error.kind, error.message, missingMs).map((verdict) => {
    const isMissing = error.kind === 'target-missing' && verdict.kind !== 'absent';
    return {
      ...settlement(verdict, false, error.retryAfterMs, chance),
      targetMissing: (isMissing && isWrittenThisWay(verdict.rule)) || null,
    };
  });
}

/** What to record of rules besides their state. */
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
