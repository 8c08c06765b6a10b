import type { RuleCause } from './cause';
import type { DueRule } from './due-rule';
import type { RuleEventKind } from './ledger';
import type { DriverErrorKind } from './provider';
import type { Rule } from './rule';

/** An observation of a rule to record. */
export interface RuleEvent {
  readonly kind: RuleEventKind;
  readonly ruleId: string;
  readonly cause: RuleCause | null;
  readonly message: string | null;
  /** the ResourceIps it concerns; null: all holders of the rule */
  readonly resourceIpIds: readonly string[] | null;
  /** the rule whose access it ends; undefined: as it is now */
  readonly before?: Rule;
}

/** What became of a rule, and what a pass or a report found of it besides. */
export interface Decided {
  readonly rule: Rule;
  readonly events: readonly RuleEvent[];
  /** it was found absent, or given up */
  readonly isAbsent: boolean;
  /** observed present */
  readonly isShown?: boolean;
  /** present under its recorded id in the first read of the pass */
  readonly wasShown?: boolean;
  /** its renewal may have removed it for a moment */
  readonly isRecreated?: boolean;
  /** why its addition is given up for the holders that wait; null: it is not */
  readonly failed?: DriverErrorKind | 'no effect' | null;
  /**
   * what another program made of it, as a phrase, while it is desired: until it is observed as it was written, it counts as
   * missing, and its addresses are not let in as they should be
   */
  readonly changedTo?: string | null;
  /** what another program made of it before the pass */
  readonly wasChangedTo?: string | null;
  /** the provider refused its removal, and would refuse it again */
  readonly refusal?: string | null;
  /** how its removal is known without a read, or what it left behind without effect */
  readonly note?: string | null;
  /** the pass has removed it, for this cause */
  readonly removedAs?: RuleCause | null;
  /** if it is absent, that was not observed: whether it is present is unknown */
  readonly givenUp?: { readonly cause: 'ABANDONED' | 'TARGET_GONE'; readonly reason: string };
  /** an unmanaged rule for the same traffic is present */
  readonly isUnmanagedPresent?: boolean;
  /** its target is full, and may have rules that have no holder */
  readonly isFull?: boolean;
  /** names the unmanaged rules that let the address in after its end */
  readonly stillAllowedBy?: string | null;
}

/** Message of the ledger: the traffic was let in by an unmanaged rule, and is after the holder's end. */
export const UNMANAGED_STAYS = 'An unmanaged rule lets it in still';

/** Message for users about a rule that was given up. */
export const givenUpMessage = (reason: string): string => `Given up, not observed closed: ${reason}`;

/** Message for users about a desired rule that was changed. @param changedTo what it does now, as a phrase */
export const changedMessage = (changedTo: string): string =>
  `Another program changed it: ${changedTo}. It is written again`;

/** An event of a rule for all its holders. */
export const ruleEvent = (
  kind: RuleEvent['kind'],
  ruleId: string,
  more: Partial<RuleEvent> = {},
): RuleEvent => ({ kind, ruleId, cause: null, message: null, resourceIpIds: null, ...more });

/** The events of a rule that a pass or a report has settled. */
export function settledEvents(
  { row: before, ruleId, desired, addCause }: DueRule,
  decided: Omit<Decided, 'events'>,
): RuleEvent[] {
  const { rule: next, isAbsent, isShown, wasChangedTo = null, refusal = null, removedAs = null } = decided;
  const wasPresent = before.presentSince !== null;
  const isChanged = wasChangedTo !== null && !before.isMissing;
  const events: RuleEvent[] = [];
  if (isChanged) events.push(changedEvent(ruleId, wasChangedTo));
  if (isShown && !next.isUnmanaged && (before.isMissing || !wasPresent))
    events.push(
      before.isMissing || isChanged
        ? ruleEvent('RESTORED', ruleId, { cause: 'DRIFT_REPAIRED' })
        : ruleEvent('OPENED', ruleId, { cause: addCause }),
    );
  if (refusal !== null && refusal !== before.lastError)
    events.push(ruleEvent('REMOVAL_REFUSED', ruleId, { cause: next.cause, message: refusal }));
  if (!isAbsent) return events;
  const isRemoved = !desired || removedAs !== null;
  if (isRemoved && (before.possibleSince !== null || wasPresent))
    events.push(endOf(ruleId, next.cause ?? removedAs, before.isUnmanaged, decided));
  else if (wasPresent) events.push(ruleEvent('MISSING', ruleId, { cause: 'CHANGED_OUTSIDE' }));
  return events;
}

export const changedEvent = (ruleId: string, changedTo: string): RuleEvent =>
  ruleEvent('CHANGED', ruleId, { cause: 'CHANGED_OUTSIDE', message: changedMessage(changedTo) });

/** The end of a rule that was removed, or given up. */
function endOf(
  ruleId: string,
  cause: RuleCause | null,
  wasUnmanaged: boolean,
  { givenUp, note = null, isUnmanagedPresent }: Omit<Decided, 'events'>,
): RuleEvent {
  if (givenUp) return ruleEvent('ABANDONED', ruleId, { cause: givenUp.cause, message: givenUp.reason });
  if (wasUnmanaged && isUnmanagedPresent)
    return ruleEvent('RELEASED', ruleId, { cause, message: UNMANAGED_STAYS });
  return ruleEvent('CLOSED', ruleId, { cause, message: note });
}
