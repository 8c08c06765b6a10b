/** A live holder, as far as keeping a rule goes. */
export interface Keeper {
  readonly organizationId: string;
  /** its resource's last verification, with the credential it has now, proved that it may write */
  readonly writeVerified: boolean;
}

/** A rule, as far as keeping it goes. */
export interface KeptRule {
  readonly isUnmanaged: boolean;
  /** the organization whose credential wrote it; null: none did, or the credential is gone */
  readonly writerOrganizationId: string | null;
}

/**
 * Whether a live holder keeps a rule that is present. A credential that only reads does not hold a rule that another
 * organization wrote: nobody could remove it through that credential later.
 */
export const keepsRule = (holder: Keeper, rule: KeptRule): boolean =>
  rule.isUnmanaged ||
  rule.writerOrganizationId === null ||
  holder.organizationId === rule.writerOrganizationId ||
  holder.writeVerified;
