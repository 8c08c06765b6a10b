/**
 * Why a rule was added. `LOCKDOWN_LIFTED`: a lockdown had closed its static IP rule. `STATIC_RULE_EXTENDED`: its
 * static IP rule had ended. `DRIFT_REPAIRED`: it had disappeared from its target. `WRITER_RELEASED`: of former releases.
 */
export const ADDITION_CAUSES = [
  'SESSION_STARTED',
  'STATIC_RULE_CREATED',
  'LOCKDOWN_LIFTED',
  'STATIC_RULE_EXTENDED',
  'RESOURCE_MOVED',
  'CONFIG_CHANGED',
  'DRIFT_REPAIRED',
  'WRITER_RELEASED',
] as const;
export type AdditionCause = (typeof ADDITION_CAUSES)[number];

/**
 * Why a rule was removed, or must be.
 * - `LEASE_LOST`: the session's lease was not renewed
 * - `ROLE_LOST`: the issuer named no group any more that gave the role, and no other role allows it
 * - `REFUSED_BY_ISSUER`: the issuer of the user's last company sign-in refused to vouch for the user
 * - `NOT_SIGNED_IN_AGAIN`: the issuer's session was over, and the user has not signed in again in time
 * - `ADD_REFUSED`: the addition was given up, and the rule exists nevertheless
 * - `WRITER_RELEASED`: the organization whose credential wrote it no longer holds it; another holder has it written again
 * - `STALE_RULE`: known, without a holder, and present again after it had been observed absent
 * - `ORPHAN`: has our mark and is unknown to the database
 * - `MAKE_ROOM`: of former releases: an unwanted rule of ours was removed early because its target was full
 * - `TARGET_GONE`: the provider has reported for hours that the whole target does not exist
 * - `CHANGED_OUTSIDE`: another program removed or changed it
 */
export const REMOVAL_CAUSES = [
  'SESSION_STOPPED',
  'SESSION_STOPPED_BY_ADMIN',
  'SESSION_EXPIRED',
  'LEASE_LOST',
  'USER_OFFBOARDED',
  'ROLE_LOST',
  'REFUSED_BY_ISSUER',
  'NOT_SIGNED_IN_AGAIN',
  'LOCKED_DOWN',
  'STATIC_RULE_DELETED',
  'STATIC_RULE_CHANGED',
  'STATIC_RULE_EXPIRED',
  'RESOURCE_MOVED',
  'RESOURCE_DELETED',
  'CONFIG_CHANGED',
  'ABANDONED',

  'ADD_REFUSED',
  'WRITER_RELEASED',
  'STALE_RULE',
  'ORPHAN',
  'MAKE_ROOM',
  'TARGET_GONE',
  'CHANGED_OUTSIDE',
] as const;
export type RemovalCause = (typeof REMOVAL_CAUSES)[number];

export type RuleCause = AdditionCause | RemovalCause;

/** All causes without duplicates: some are both addition and removal causes. */
export const RULE_CAUSES: readonly RuleCause[] = [...new Set([...ADDITION_CAUSES, ...REMOVAL_CAUSES])];

/** The ResourceIp continues on another target and does not wait for the removal of the old rule. */
export const DETACHING_CAUSES = [
  'RESOURCE_MOVED',
  'CONFIG_CHANGED',
] as const satisfies readonly RemovalCause[];
