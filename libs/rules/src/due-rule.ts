import type { AdditionCause, RemovalCause } from './cause';
import type { Access, RuleState, TargetRule } from './rule';
import type { ResourceConfig, RuleSpec } from './rule-spec';
import type { ResourceIpStatus } from './status';
import type { OrganizationId } from './tenancy';

/** A holder of a due rule. */
export interface DueHolder {
  /** REMOVING once it has released the rule */
  readonly status: ResourceIpStatus;
  /** why it desires the rule */
  readonly cause: AdditionCause;
  readonly access: Access & { readonly organizationId: OrganizationId };
  /** the last verification of its resource proved write access with the current credential */
  readonly writeVerified: boolean;
  /** the reason its resource was abandoned: the removal is not waited for; null: not abandoned */
  readonly abandoned: string | null;
  /** of the resource */
  readonly config: ResourceConfig;
  /** seconds since 1970; null: no planned end */
  readonly expiresAt: number | null;
  readonly expired: boolean;
}

/** A rule with its holders (PENDING, APPLIED and REMOVING ones), and what follows from them: passes plan with it and settle it. */
export interface DueRule {
  readonly row: TargetRule;
  readonly ruleId: string;
  /** `ruleKey` of its traffic */
  readonly key: string;
  readonly spec: RuleSpec;
  /** before the calls of the pass that settles it */
  readonly state: RuleState;
  /** a live holder exists that may have the rule written (`canHoldRule`) */
  readonly desired: boolean;
  /** since the pass began, what it should become has changed */
  readonly isTurned?: boolean;
  /**
   * false when its last holder has expired, and its removal is not due yet, or while a restored database is not confirmed: it
   * may not be added
   */
  readonly mayOpen: boolean;
  /** it is desired, and may not be added until an operator confirms the restored database */
  readonly isHeldBack: boolean;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** why it would be removed */
  readonly removeCause: RemovalCause;
  /** the provider's id under which it was last observed as ours; null: it was not */
  readonly recordedId: string | null;
  /** a call without an answer may still take effect */
  readonly inFlight: boolean;
  /** for how long, ms */
  readonly inFlightMs: number;
  /** such a call was made, and no read has followed since its deadline */
  readonly inDoubt: boolean;
  /** the provider answered that it was added, and no read has shown it yet: another addition would only spend the budget */
  readonly isAwaited: boolean;
  /** the end that its provider has of it has passed */
  readonly hasExpired: boolean;
  /**
   * for how long it has been removed, or not been observed, ms; 0: it was present. Null: it was never observed, or a call in
   * doubt may have removed it
   */
  readonly removingMs: number | null;
  /** the access path it was written through; null: never written */
  readonly writtenWith: Access | null;
  /** the reason its removal is not waited for: every resource of its holders was abandoned; null: it is */
  readonly abandoned: string | null;
  readonly holders: readonly DueHolder[];
}

/** What decides whether a live holder may hold a rule. */
export interface HolderAuthority {
  readonly organizationId: string;
  /** the last verification of its resource proved write access with the current credential */
  readonly writeVerified: boolean;
}

/** What decides which holders may hold a rule. */
export interface RuleAuthorship {
  readonly isUnmanaged: boolean;
  /** the organization whose credential wrote it; null: never written, or the credential is deleted */
  readonly writerOrganizationId: string | null;
}

/**
 * Whether a live holder keeps a present rule desired. A read-only credential cannot hold a rule that another organization
 * wrote, because the rule could not be removed through it later.
 */
export const canHoldRule = (holder: HolderAuthority, rule: RuleAuthorship): boolean =>
  rule.isUnmanaged ||
  rule.writerOrganizationId === null ||
  holder.organizationId === rule.writerOrganizationId ||
  holder.writeVerified;
