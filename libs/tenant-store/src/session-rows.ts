import type { NewHolder, WokenTargets } from '#engine-store/port';
import type {
  EndedReason,
  IpVersion,
  Provider,
  ResourceConfig,
  ResourceIpStatus,
  SessionStatus,
} from '#rules';

export interface ResourceIpRow {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly status: ResourceIpStatus;
  readonly providerRuleId: string | null;
  /** ISO 8601, as every time below a session */
  readonly appliedAt: string | null;
  readonly removedAt: string | null;
  readonly errorMessage: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly holder: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
  readonly status: SessionStatus;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: EndedReason | null;
  readonly createdAt: Date;
  readonly resourceIps: ResourceIpRow[];
}

/** A resource of the organization, with what the user's active roles allow on it; no roles: not the user's. */
export interface GrantRow {
  readonly resourceId: string;
  readonly resourceName: string;
  readonly isActive: boolean;
  readonly revision: number;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly targetId: string;
  readonly config: ResourceConfig;
  readonly roles: { name: string; maxSessionDurationHours: number | null }[];
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
  readonly hours: number;
  readonly openings: readonly NewHolder[];
  readonly limits: LiveSessionLimits;
}

/** Most live sessions of one user; 0: no limit. */
export interface LiveSessionLimits {
  readonly perUser: number;
  readonly perServiceUser: number;
}

export interface SessionFilter {
  readonly userId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly statuses?: readonly SessionStatus[] | undefined;
  /** only sessions that overlap the time between the two, both included; null: without that bound */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** A session that was ended, and the targets its rules are in. */
export interface StoppedSession {
  readonly sessionId: string;
  readonly targets: WokenTargets[];
}

/** A user has as many live sessions as may be. The transaction it is thrown in is broken. */
export class TooManyLiveSessions extends Error {
  readonly limit: number;

  constructor(
    readonly session: NewSession,
    readonly isService: boolean,
  ) {
    const { perUser, perServiceUser } = session.limits;
    const limit = isService ? perServiceUser : perUser;
    super(`The user has ${limit} live sessions`);
    this.limit = limit;
  }
}
