/**
 * Events that the ledger records of rules, always after an observation.
 * - `OPENED`, `CLOSED`: first observed present, observed absent
 * - `HELD`: a new holder's pass observed the rule already present; `RELEASED`: a holder ended, another holder or an
 *   unmanaged rule keeps the access
 * - `MISSING`: a rule of ours disappeared; `RESTORED`: present again
 * - `ADD_REFUSED`, `REMOVAL_REFUSED`: the provider's answer
 * - `FOUND`: an orphan, a stale rule, or an unmanaged rule was observed for the first time
 * - `CHANGED`: another program changed a rule of ours: it does something else than was written, or more
 * - `ABANDONED`: given up, by an admin or because its target was not found for hours; whether it is present is unknown
 */
export const RULE_EVENT_KINDS = [
  'OPENED',
  'CLOSED',
  'HELD',
  'RELEASED',
  'MISSING',
  'RESTORED',
  'ADD_REFUSED',
  'REMOVAL_REFUSED',
  'FOUND',
  'CHANGED',
  'ABANDONED',
] as const;
export type RuleEventKind = (typeof RULE_EVENT_KINDS)[number];

/** Events that end the holder's access through the rule. Each has the complete interval. */
export const INTERVAL_ENDS = [
  'CLOSED',
  'RELEASED',
  'MISSING',
  'CHANGED',
  'ABANDONED',
] as const satisfies readonly RuleEventKind[];

/** Whether the event ends the holder's access through the rule. */
export const endsAccess = (kind: RuleEventKind): boolean => INTERVAL_ENDS.some((end) => end === kind);

/** Kinds of holders in the ledger. `OTHER`: a holder of another organization. */
export const HOLDER_KINDS = ['SESSION', 'STATIC_RULE', 'ORPHAN', 'UNMANAGED', 'OTHER'] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];
