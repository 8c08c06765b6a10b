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
