import { judge, judgeBefore, judgeUnread, type Verdict } from './judge';
import { Observed } from './observed-rules';
import type { DueRule } from './due-rule';
import type { PassFacts, SentChange } from './rule';
import { decideRule, foundBy, isSamePath, rowBy, waiting, type Moment } from './rule-decided';
import type { Decided } from './rule-events';
import { UnmanagedRules } from './unmanaged-rules';

/** An addition on a target that is not found is looked at this often, until it is given up or has waited for long. */
const NOT_FOUND_RETRY_MS = 5000;
const NOT_FOUND_ATTEMPTS = 12;

/** An addition to a full target is tried again this often: what has no holder there is looked for and removed first. */
const MAX_TRIES_WHEN_FULL = 2;
const FULL_RETRY_MS = 1500;

const isQuota = (verdict: Verdict): verdict is Verdict & { kind: 'failed' } =>
  verdict.kind === 'failed' && verdict.refusedAs === 'quota';

const waitsForTurn = (change: SentChange | undefined): boolean =>
  change?.result.result === 'refused' && change.result.isTurn === true;

/** Decides what rules become by what a pass found: the only place that concludes anything about them from it. */
export function observe(rules: readonly DueRule[], facts: PassFacts, moment: Moment): Decided[] {
  const { firstRead, lastRead, sent, waitMs } = facts;
  if (!firstRead) return observeUnread(rules, facts, moment);
  const first = new Observed(firstRead.rules);
  const shown = (lastRead ?? firstRead).rules;
  const last = shown === firstRead.rules ? first : new Observed(shown);
  const unmanaged = new UnmanagedRules(shown);
  return rules.map((rule) => {
    const change = sent.get(rule.ruleId);
    // should a rule lose our mark between the two reads, its id says that it is ours
    const known = { ...rule, recordedId: rule.recordedId ?? first.markedId(rule.key) };
    const found = (lastRead ? judge : judgeBefore)(known, change, last);
    const { attempts } = rule.row;
    const isFull = isQuota(found) && attempts < MAX_TRIES_WHEN_FULL;
    const verdict = isFull ? waiting(found.message) : found;
    const row = rowBy(rule, verdict, { attempts, waitMs: isFull ? FULL_RETRY_MS : waitMs }, moment);
    const tried = waitsForTurn(change) ? { attempts } : {};
    const atStart = first.present(rule);
    return decideRule(rule, { ...row, ...tried, targetMissingSince: null }, moment, {
      ...foundBy(rule, verdict),
      isFull,
      removedAs: change?.action === 'remove' ? change.cause : null,
      wasShown: rule.recordedId !== null && atStart?.providerRuleId === rule.recordedId,
      wasChangedTo: rule.desired ? first.changeOf(rule) : null,
      isUnmanagedPresent: unmanaged.has(rule.key),
      stillAllowedBy: verdict.kind === 'absent' ? unmanaged.lettingIn(rule.key) : null,
    });
  });
}

/** The target was not read, or the pass waits. */
function observeUnread(
  rules: readonly DueRule[],
  { error, sent, waitMs }: PassFacts,
  moment: Moment,
): Decided[] {
  const { kind, message } = error!;
  const { now, access } = moment;
  // one backoff for all: the next read serves all of them
  const attempts = Math.max(...rules.map(({ row }) => row.attempts));
  return rules.map((rule) => {
    const { row, desired } = rule;
    if (kind === 'postponed') {
      const waits = rowBy(rule, waiting(message), { attempts: 0, waitMs }, moment);
      return decideRule(rule, { ...waits, attempts: row.attempts }, moment);
    }
    const isWritten = access !== null && isSamePath(rule.writtenWith, access);
    const missingMs = isWritten && row.targetMissingSince !== null ? now - row.targetMissingSince : 0;
    const verdict = judgeUnread(rule, { kind, message }, sent.get(rule.ruleId), missingMs);
    const change = rowBy(rule, verdict, { attempts, waitMs }, moment, false);
    const isMissing = kind === 'target-missing' && verdict.kind !== 'absent';
    const isSoonOver = isMissing && desired && rule.state === 'absent' && attempts < NOT_FOUND_ATTEMPTS;
    const soon = now + NOT_FOUND_RETRY_MS;
    const found = foundBy(rule, verdict);
    return decideRule(
      rule,
      {
        ...change,
        ...(isSoonOver && { dueAt: Math.min(change.dueAt ?? soon, soon) }),
        ...(waitsForTurn(sent.get(rule.ruleId)) && { attempts: row.attempts }),
        ...(isMissing && isWritten && { targetMissingSince: row.targetMissingSince ?? now }),
      },
      moment,
      {
        ...found,
        ...(verdict.kind === 'absent' && { givenUp: { cause: 'TARGET_GONE', reason: message } }),
        ...((kind === 'target-missing' || rule.state === 'absent') && { refusal: null }),
      },
    );
  });
}
