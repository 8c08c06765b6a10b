export const TIERS = ['FREE', 'PAID'] as const;
export type Tier = (typeof TIERS)[number];

/** The tier that counts for an organization, of the one it pays for. */
export type TierOf = (paidFor: Tier) => Tier;

export interface TierLimits {
  readonly sessionHours: number;
  /** null: no limit */
  readonly resources: number | null;
  readonly users: number | null;
}

export const TIER_LIMITS: Readonly<Record<Tier, TierLimits>> = {
  FREE: { sessionHours: 4, resources: 5, users: 5 },
  PAID: { sessionHours: 24, resources: null, users: null },
};

/** A requested resource, with the maximum of each of the user's roles that grant it; null: the maximum of the tier. */
export interface ResourceGrant {
  readonly resourceName: string;
  readonly roles: readonly { readonly name: string; readonly maxSessionDurationHours: number | null }[];
}

export interface MaximumDuration {
  readonly hours: number;
  /** the limiting plan or role, for messages */
  readonly setBy: string;
}

/**
 * The maximum duration of a session on these resources: the smaller of the tier's maximum and the smallest maximum of a
 * resource. The maximum of a resource is the largest of the user's roles that grant it.
 */
export function maximumDuration(tier: Tier, grants: readonly ResourceGrant[]): MaximumDuration {
  const ofTier = TIER_LIMITS[tier].sessionHours;
  let maximum: MaximumDuration = { hours: ofTier, setBy: `the ${tier === 'FREE' ? 'Free' : 'Paid'} plan` };
  for (const grant of grants) {
    const best = grant.roles.reduce<{ name: string; hours: number } | null>((found, role) => {
      const hours = role.maxSessionDurationHours ?? ofTier;
      return found && found.hours >= hours ? found : { name: role.name, hours };
    }, null);
    if (best && best.hours < maximum.hours) {
      maximum = { hours: best.hours, setBy: `role "${best.name}" on resource "${grant.resourceName}"` };
    }
  }
  return maximum;
}
