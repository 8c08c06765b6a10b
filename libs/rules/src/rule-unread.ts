import { RULE_BACKOFF } from './backoff';
import type { DueRule } from './due-rule';
import {
  changeBy,
  decided,
  unchanged,
  waiting,
  type Decided,
  type Moment,
  type RetryAfter,
} from './rule-decided';
import { ruleName } from './unmanaged-rules';

/** Whether a rule needs no read: it is abandoned, present without a holder that waits, or never written. */
export function isAtRest(rule: DueRule): boolean {
  const { row, desired, state, inDoubt, inFlight, writtenWith } = rule;
  if (isAbandoned(rule)) return true;
  return desired
    ? // one that its provider ends may have to be renewed
      state === 'present' && !isWaitedFor(rule) && !inDoubt && row.nativeEndAt === null
    : (state === 'absent' || writtenWith === null) && !inFlight;
}

export const isWaitedFor = ({ holders }: DueRule): boolean =>
  holders.some(({ status }) => status === 'PENDING');

/** Whether it is unwanted and its resources were abandoned: its target is not expected to answer again. */
export const isAbandoned = ({ desired, abandoned }: DueRule): boolean => !desired && abandoned !== null;

/** Decides rules whose target is not read: those at rest are settled, and of the others only the released holders. */
export const settleUnread = (
  rules: readonly DueRule[],
  moment: Moment,
  isSettled: (rule: DueRule) => boolean = isAtRest,
): Decided[] =>
  rules.map((rule) => {
    const { row, desired, state, abandoned } = rule;
    if (!isSettled(rule))
      return decided(rule, { ...unchanged(rule), attempts: row.attempts, dueInMs: 0 }, moment, {});
    const change = { ...unchanged(rule), state: desired ? null : ('absent' as const) };
    if (desired) return decided(rule, change, moment, {});
    if (abandoned !== null)
      return decided(rule, { ...change, inFlight: false }, moment, {
        givenUp: { cause: 'ABANDONED', reason: abandoned },
      });
    const stays = row.isUnmanaged && state === 'present';
    return decided(rule, { ...change, inFlight: false }, moment, {
      isUnmanagedPresent: stays,
      stillAllowedBy:
        stays && row.providerRuleId !== null
          ? ruleName({ providerRuleId: row.providerRuleId, key: row.key })
          : null,
    });
  });

const retryOf = ({ row: { attempts } }: DueRule, { chance }: Moment): RetryAfter => ({
  attempts,
  waitMs: null,
  chance,
});

/** Decides a rule that an unexpected failure kept from being settled. */
export const failedUnexpectedly = (rule: DueRule, message: string, moment: Moment): Decided =>
  decided(rule, changeBy(rule, waiting(message, true), retryOf(rule, moment), false), moment, {});

/** An agent's report on one rule of its host; undefined: the rule is not present. */
export interface AgentResult {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage: string | null;
}

/** Decides a rule by the report of its host's agent. */
export function reported(rule: DueRule, result: AgentResult | undefined, moment: Moment): Decided {
  const { desired, row, holders } = rule;
  const again = desired ? null : RULE_BACKOFF.capMs;
  const change = { ...unchanged(rule), isUnmanaged: false, inFlight: false };
  if (result?.status === 'APPLIED') {
    const present = { state: 'present', observedPresent: true, providerRuleId: row.id } as const;
    // an unwanted rule stays due until it is removed
    return decided(rule, { ...change, ...present, dueInMs: again }, moment, {});
  }
  if (result?.status === 'FAILED') {
    const failed = { ...change, attempts: row.attempts + 1, message: result.errorMessage, dueInMs: again };
    if (!desired)
      return decided(rule, failed, moment, {
        refusal: result.errorMessage ?? 'The agent could not remove it',
      });
    // the agent keeps retrying for applied holders, and reports when the rule is present again
    const isApplied = holders.some(({ status }) => status === 'APPLIED');
    return decided(
      rule,
      { ...failed, state: isApplied ? 'unknown' : 'absent', failed: 'invalid' },
      moment,
      {},
    );
  }
  return decided(rule, { ...change, state: 'absent', dueInMs: desired ? 0 : null }, moment, {});
}

/** Decides a rule that waits for the report of its host's agent. @param isAway the agent has not reported for long */
export function awaited(rule: DueRule, message: string, isAway: boolean, moment: Moment): Decided {
  const found = changeBy(rule, waiting(message), retryOf(rule, moment), false);
  // an observation before the absence does not apply to holders added since
  const isOutdated = isAway && rule.state === 'present' && isWaitedFor(rule);
  return decided(rule, isOutdated ? { ...found, state: 'unknown' } : found, moment, {});
}

/** Decides a rule that a host's kernel has ended by its own clock. */
export const endedByKernel = (rule: DueRule, note: string, moment: Moment): Decided =>
  decided(rule, changeBy(rule, { kind: 'absent' }, { attempts: 0, waitMs: null, chance: 0 }), moment, {
    note,
  });
