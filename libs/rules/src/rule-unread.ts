import { RULE_BACKOFF } from './waits';
import type { DueRule } from './due-rule';
import { ruleName } from './observed-rules';
import { decideRule, rowBy, settledRow, waiting, type Moment } from './rule-decided';
import type { Decided } from './rule-events';
import type { Rule } from './rule';

/**
 * Whether a rule needs no read: it is abandoned; present without a doubt, an end at the provider and a holder that waits; or
 * unwanted, absent or never written, and no call is in flight.
 */
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
export const settleAtRest = (
  rules: readonly DueRule[],
  moment: Moment,
  isSettled: (rule: DueRule) => boolean = isAtRest,
): Decided[] =>
  rules.map((rule) => {
    const { row, desired, state, abandoned } = rule;
    if (!isSettled(rule))
      return decideRule(rule, { ...settledRow(rule), attempts: row.attempts, dueAt: moment.now }, moment);
    if (desired) return decideRule(rule, settledRow(rule), moment);
    const change = { ...settledRow(rule), state: 'absent', inFlightUntil: null } as const;
    if (abandoned !== null)
      return decideRule(rule, change, moment, { givenUp: { cause: 'ABANDONED', reason: abandoned } });
    const stays = row.isUnmanaged && state === 'present';
    return decideRule(rule, change, moment, {
      isUnmanagedPresent: stays,
      stillAllowedBy:
        stays && row.providerRuleId !== null
          ? ruleName({ providerRuleId: row.providerRuleId, key: row.key })
          : null,
    });
  });

/** The row of a rule of which nothing was found out. @param inDoubt a call may have been sent */
const waitingRow = (rule: DueRule, message: string, moment: Moment, inDoubt = false): Partial<Rule> =>
  rowBy(rule, waiting(message, inDoubt), { attempts: rule.row.attempts, waitMs: null }, moment, false);

/** Decides a rule that an unexpected failure kept from being settled. */
export const failedUnexpectedly = (rule: DueRule, message: string, moment: Moment): Decided =>
  decideRule(rule, waitingRow(rule, message, moment, true), moment);

/** An agent's report on one rule of its host; undefined: the rule is not present. */
export interface AgentResult {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage: string | null;
}

/** Decides a rule by the report of its host's agent. */
export function reported(rule: DueRule, result: AgentResult | undefined, moment: Moment): Decided {
  const { desired, row, holders } = rule;
  const again = desired ? null : moment.now + RULE_BACKOFF.capMs;
  const change = { ...settledRow(rule), isUnmanaged: false, inFlightUntil: null };
  if (result?.status === 'APPLIED') {
    const present = { ...change, state: 'present', providerRuleId: row.id } as const;
    // an unwanted rule stays due until it is removed
    return decideRule(rule, { ...present, dueAt: again }, moment, { isShown: true });
  }
  if (result?.status === 'FAILED') {
    const { errorMessage } = result;
    const failed = { ...change, attempts: row.attempts + 1, lastError: errorMessage, dueAt: again };
    if (!desired)
      return decideRule(rule, failed, moment, { refusal: errorMessage ?? 'The agent could not remove it' });
    // the agent keeps retrying for applied holders, and reports when the rule is present again
    const isApplied = holders.some(({ status }) => status === 'APPLIED');
    return decideRule(rule, { ...failed, state: isApplied ? 'unknown' : 'absent' }, moment, {
      failed: 'invalid',
    });
  }
  return decideRule(rule, { ...change, state: 'absent', dueAt: desired ? moment.now : null }, moment);
}

/** Decides a rule that waits for the report of its host's agent. @param isAway the agent has not reported for long */
export function awaited(rule: DueRule, message: string, isAway: boolean, moment: Moment): Decided {
  const change = waitingRow(rule, message, moment);
  // an observation before the absence does not apply to holders added since
  const isOutdated = isAway && rule.state === 'present' && isWaitedFor(rule);
  return decideRule(rule, isOutdated ? { ...change, state: 'unknown' } : change, moment);
}

/** Decides a rule that a host's kernel has ended by its own clock. */
export const endedByKernel = (rule: DueRule, note: string, moment: Moment): Decided =>
  decideRule(rule, rowBy(rule, { kind: 'absent' }, { attempts: 0, waitMs: null }, moment), moment, { note });
