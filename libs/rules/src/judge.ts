import type { Observed } from './observed-rules';
import { isOurs, type Planned } from './planner';
import { failsAddition, RETRYABLE_KINDS, type ChangeResult, type DriverErrorKind } from './provider';
import type { DueRule } from './due-rule';
import type { SentChange } from './rule';

/** What judging needs of a due rule. */
export type Judged = Planned & Pick<DueRule, 'removingMs' | 'hasExpired'>;

/** What a pass means for a rule. */
export type Verdict =
  | {
      readonly kind: 'present';
      readonly providerRuleId: string;
      /** present, and not ours */
      readonly unmanaged: boolean;
      /** an addition without an answer did not add what was observed: it may still take effect */
      readonly unknown: boolean;
      /** it admits no traffic, for this reason: it is given up like a failed addition */
      readonly noEffect?: string;
      readonly notRenewed?: string;
      readonly isRecreated?: boolean;
      /** by the provider's own clock, seconds since 1970 */
      readonly endsAt?: number;
    }
  | {
      readonly kind: 'absent';
      /** what its removal left behind, without effect */
      readonly note?: string;
    }
  | Retry
  /** the addition failed and is not retryable */
  | { readonly kind: 'failed'; readonly message: string; readonly refusedAs: DriverErrorKind };

/** Not settled: another pass follows. */
interface Retry {
  readonly kind: 'retry';
  readonly message: string | null;
  /** what it does now: another program changed it */
  readonly changedTo?: string;
  /** by then another pass settles it, ms */
  readonly againInMs?: number;
  /** of the rule that the addition created, which no read has shown yet */
  readonly createdId?: string;
  readonly unknown: boolean;
  /** ours, and still observed present */
  readonly observedPresent: boolean;
  /** the provider refused the change, and would refuse it again */
  readonly refused: boolean;
}

/**
 * Judges a rule by the read after the changes. Results alone decide only refusals.
 * @param sent undefined: the pass did not change it
 * @param index of the rules that the read showed
 */
export function judge(rule: Judged, sent: SentChange | undefined, index: Observed): Verdict {
  // it got a holder while it was removed: that may have taken effect whatever the read shows
  const wasRemoved = sent?.action === 'remove' && sent.result.result !== 'refused';
  return rule.desired && !wasRemoved ? judgeDesired(rule, sent, index) : judgeUnwanted(rule, sent, index);
}

/** As `judge`, when the read after the changes failed: a changed rule is not settled by the one before them. */
export function judgeBefore(rule: Judged, sent: SentChange | undefined, index: Observed): Verdict {
  const verdict = judge(rule, sent, index);
  if (!sent || verdict.kind === 'retry' || verdict.kind === 'failed') return verdict;
  // an answered removal needs no wait: the next read shows it
  return { ...retry(sent, false), ...(!rule.desired && { unknown: sent.result.result === 'unknown' }) };
}

function judgeDesired(rule: Judged, sent: SentChange | undefined, index: Observed): Verdict {
  const result = resultOf(sent, 'add');
  const changedTo = index.changeOf(rule);
  if (changedTo !== null) return { ...retry(sent, false), changedTo };
  const present = index.inForce(rule);
  if (present) {
    const unmanaged = !isOurs(present, rule.recordedId);
    const unknown = result?.result === 'unknown' && present.ownRuleId !== rule.ruleId;
    const { providerRuleId, endsAt } = present;
    const ends = endsAt === undefined ? {} : { endsAt };
    const isRenewed = renewed(resultOf(sent, 'renew'));
    const found = { kind: 'present', providerRuleId, unmanaged, unknown, ...ends, ...isRenewed } as const;
    const reason = index.noEffect(rule.key);
    return reason === null ? found : { ...found, noEffect: reason };
  }
  if (result?.result === 'refused' && failsAddition(result.kind))
    return { kind: 'failed', message: result.message, refusedAs: result.kind };
  return retry(sent, false);
}

interface Renewal {
  /** why it still ends too early; it is present all the same */
  readonly notRenewed?: string;
  /** its renewal may have removed it for a moment */
  readonly isRecreated?: boolean;
  readonly unknown?: true;
}

/** What the answer to a renewal means. One that was refused ends nothing; one without an answer may still take effect. */
function renewed(result: ChangeResult | undefined): Renewal {
  if (!result) return {};
  if (result.result === 'done') return { isRecreated: result.isNew ?? false };
  const isUnknown = result.result === 'unknown';
  return { notRenewed: result.message, ...(isUnknown && { unknown: true, isRecreated: true }) };
}

/** For how long a read, or "not found", may be older than what was observed before. */
const MAX_READ_LAG_MS = 30_000;
/** Shown on what is being removed. */
const NOT_FOUND = 'The provider does not find the rule, which was there a moment ago: it is looked for again';

/** Note on a removal that came after the provider's own end. */
const EXPIRED = 'It had expired by itself';

function judgeUnwanted(rule: Judged, sent: SentChange | undefined, index: Observed): Verdict {
  const present = index.present(rule);
  if (present && isOurs(present, rule.recordedId)) return retry(sent, true);
  const changedTo = index.changeOf(rule);
  if (changedTo !== null) return { ...retry(sent, false), changedTo };
  // no holder wants any more what this pass has added, and what no read shows yet
  const isAwaited = resultOf(sent, 'add')?.result === 'done';
  if (sent?.result.result === 'unknown' || isAwaited) return retry(sent, false);
  const result = resultOf(sent, 'remove');
  // its removal was throttled or failed: the read may be older than the refusal
  if (rule.recordedId !== null && result?.result === 'refused' && RETRYABLE_KINDS.has(result.kind))
    return retry(sent, false);
  // it was there a moment ago: what does not find it may be late
  const doubtMs = MAX_READ_LAG_MS - (rule.removingMs ?? MAX_READ_LAG_MS);
  if (result?.result === 'done' && result.wasAbsent && doubtMs > 0)
    return { ...retry(undefined, false), message: NOT_FOUND, againInMs: doubtMs };
  // a call in flight could add the rule after it was reported as removed
  if (rule.inFlight) return { ...retry(undefined, false), unknown: true };
  const note =
    (result?.result === 'done' ? result.note : undefined) ?? (rule.hasExpired ? EXPIRED : undefined);
  return { kind: 'absent', ...(note !== undefined && { note }) };
}

const resultOf = (sent: SentChange | undefined, action: SentChange['action']): ChangeResult | undefined =>
  sent?.action === action ? sent.result : undefined;

/** The verdict on a rule that another pass settles. */
function retry(sent: SentChange | undefined, observedPresent: boolean): Retry {
  const result = sent?.result;
  const added = resultOf(sent, 'add');
  return {
    kind: 'retry',
    message: result && result.result !== 'done' && result.message !== '' ? result.message : null,
    ...(added?.result === 'done' && added.isNew && { createdId: added.providerRuleId! }),
    // done, but not observed: either the read or the answer is stale
    unknown: result?.result === 'unknown' || result?.result === 'done',
    observedPresent,
    refused: result?.result === 'refused' && !RETRYABLE_KINDS.has(result.kind),
  };
}

/**
 * How long a target must be missing before its rules are given up. Waiting costs little, and "not found" is often answered for a
 * target that exists; a person who knows better abandons the resource.
 */
export const TARGET_GONE_MS = 6 * 3_600_000;

/**
 * Judges a rule of a target that could not be read. `absent`: given up, not observed.
 * @param sent a removal that was sent nevertheless: in doubt until a read shows its absence
 * @param missingMs for how long the target has been missing through the path the rule was written through
 */
export function judgeUnread(
  rule: Pick<DueRule, 'desired' | 'inFlight'> & { readonly row: Pick<DueRule['row'], 'lastError'> },
  { kind, message }: { readonly kind: DriverErrorKind; readonly message: string },
  sent: SentChange | undefined,
  missingMs: number,
): Verdict {
  if (rule.desired && failsAddition(kind)) return { kind: 'failed', message, refusedAs: kind };
  const isGone = kind === 'target-missing' && missingMs >= TARGET_GONE_MS;
  if (isGone && !rule.desired && !rule.inFlight) return { kind: 'absent' };
  const refused = !RETRYABLE_KINDS.has(kind);
  const again = { kind: 'retry', message, unknown: false, observedPresent: false, refused } as const;
  if (rule.desired) return again;
  const result = sent?.result;
  if (result?.result === 'refused')
    return { ...again, message: result.message, refused: !RETRYABLE_KINDS.has(result.kind) };
  if (result) {
    const waits = `The removal was sent, and the target cannot be read: ${message}`;
    return { ...again, message: waits, unknown: true, refused: false };
  }
  // the removal that was sent may still take effect
  const isAwaited = refused && rule.inFlight && rule.row.lastError !== null;
  return isAwaited ? { ...again, message: rule.row.lastError, refused: false } : again;
}
