import type { DueRuleRow } from '#engine-store';
import { UnmanagedRules, type Verdict } from '#rules';
import type { Pass } from './access-paths';
import { unreadVerdicts, type PassOutcome, type Unreadable } from './outcome';
import { changedMessage, type Remark } from './rule-events';

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
      const changedTo = outcome.changed.get(ruleId);
      return [
        ruleId,
        {
          ...(unmarked.has(ruleId) ? { unmarked: true } : {}),
          ...(isRefused ? { refusal: verdict.message } : {}),
          ...(changedTo !== undefined ? { changedTo } : {}),
          ...(isWithdrawn(verdict) ? { withdrawn: changedMessage(verdict.changedTo!) } : {}),
          ...(verdict.kind === 'absent' ? { stillAllowedBy: unmanaged.lettingIn(key) } : {}),
          ...(unmanaged.has(key) ? { isUnmanagedPresent: true } : {}),
          ...(verdict.kind === 'absent' && verdict.note !== undefined ? { note: verdict.note } : {}),
        },
      ];
    }),
  );
}

const isWithdrawn = (verdict: Verdict<DueRuleRow>): verdict is Verdict<DueRuleRow> & { kind: 'retry' } =>
  verdict.kind === 'retry' && verdict.rule.desired && verdict.changedTo !== undefined;

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
