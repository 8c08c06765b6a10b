import type { Tier } from './durations';
import type { OrganizationId } from './tenancy';

export type PlatformRole = 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';

/** An organization, or one user, starts nothing until an administrator lifts it. */
export interface Lockdown {
  readonly scope: 'ORGANIZATION' | 'USER';
  readonly reason: string;
  /** e-mail of the administrator who declared it */
  readonly declaredBy: string;
  /** ISO 8601 */
  readonly declaredAt: string;
  /** static IP rules are closed meanwhile, too */
  readonly staticRules: boolean;
}

/** Who makes a request. A workload is a CI job that acts as a service user. A session is a caller with its token. */
export interface CallerAccount {
  readonly kind: 'user' | 'key' | 'workload' | 'session';
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly name: string;
  readonly isOrgAdmin: boolean;
  readonly platformRole: PlatformRole;
  readonly mfaEnabled: boolean;
  readonly organizationName: string;
  readonly organizationSlug: string;
  readonly tier: Tier;
  /** a suspended organization may read, stop and remove; opening or widening access is denied */
  readonly suspended: boolean;
  /** of the user, else of the organization; sessions are neither started, extended nor renewed; null: none */
  readonly lockdown: Lockdown | null;
  /** sessions of the organization may only allow the address that the start request came from */
  readonly requireDetectedAddress: boolean;
  /** null: as many as the user may open */
  readonly maxResourcesPerSession: number | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  /** the only session that a session's token is for; null for others */
  readonly sessionId: string | null;
}
