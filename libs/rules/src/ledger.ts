/**
 * What the ledger records of rules, always after it was observed.
 * - `OPENED`, `CLOSED`: first observed present, observed absent
 * - `HELD`: a holder's own look found the rule present already; `RELEASED`: a holder is gone, another keeps the rule
 * - `MISSING`: ours, and disappeared; `RESTORED`: present again
 * - `ADD_REFUSED`, `REMOVAL_REFUSED`: the provider's answer
 * - `FOUND`: an orphan, a stale rule, or an unmanaged rule seen for the first time
 * - `UNMARKED`: ours by its recorded provider id, without our mark
 * - `CHANGED`: our provider id with another address or port
 * - `ABANDONED`: given up by an admin; whether it is present is not known any more
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
  'UNMARKED',
  'CHANGED',
  'ABANDONED',
] as const;
export type RuleEventKind = (typeof RULE_EVENT_KINDS)[number];

/** Events after which the holder's access through the rule is over: each carries the whole interval. */
export const INTERVAL_ENDS = [
  'CLOSED',
  'RELEASED',
  'MISSING',
  'CHANGED',
  'ABANDONED',
] as const satisfies readonly RuleEventKind[];

/** For whom a rule let its address in. `OTHER`: for a holder of another organization. */
export const HOLDER_KINDS = ['SESSION', 'STATIC_RULE', 'ORPHAN', 'UNMANAGED', 'OTHER'] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];
