import type { NewResourceIp } from '#engine-store/port';
import type { AuditEntry, Interval } from '#entities';
import type {
  EndedReason,
  GrantingRole,
  IpVersion,
  Provider,
  RemovalCause,
  ResourceIpStatus,
  SessionStatus,
  WriteQueue,
} from '#rules';
import type { LockedTarget } from '../resources/resource-rows';

export interface ResourceIpRow {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly endpoint: string | null;
  readonly ipVersion: IpVersion;
  readonly ipAddress: string;
  readonly status: ResourceIpStatus;
  readonly providerRuleId: string | null;
  /** ISO 8601, like every time nested in a session */
  readonly appliedAt: string | null;
  readonly removedAt: string | null;
  readonly errorMessage: string | null;
  /** the unmanaged rules that let the address in when it was removed, for people; null: none was observed */
  readonly stillAllowedBy: string | null;
  /** it FAILED because its target holds no addresses of its IP version */
  readonly isWrongFamily: boolean;
  /** null: it was deleted */
  readonly resource: Pick<GrantRow, 'provider' | 'resourceType' | 'config'> | null;
}

/** What waits for the write calls of an account. */
export interface AccountQueue extends WriteQueue {
  /** whose write budget it is */
  readonly provider: Provider;
  readonly resourceType: string;
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
  /** when it ends unless it is renewed; null: it has no lease */
  readonly leaseUntil: Date | null;
  readonly endedAt: Date | null;
  readonly endedReason: EndedReason | null;
  /** what stopped it; null: it is live, or its time is over */
  readonly endedCause: RemovalCause | null;
  readonly reason: string | null;
  readonly ticket: string | null;
  /** the request that was approved for it, or is to be reviewed */
  readonly accessRequestId: string | null;
  /** e-mails of those who approved the request */
  readonly approvers: string[];
  /** it was started without approval */
  readonly breakGlass: boolean;
  readonly createdAt: Date;
  readonly resourceIps: ResourceIpRow[];
  /** of the accounts that a PENDING one waits for, as far as they are known; null, absent: of none */
  readonly queues?: readonly AccountQueue[] | null;
}

/** A resource of the organization with the user's roles on it; no roles: the user has no access. */
export interface GrantRow extends LockedTarget {
  readonly isActive: boolean;
  /** of the cloud; null: not known */
  readonly account: string | null;
  readonly roles: GrantingRole[];
}

/** Resources that a session is to cover, by ids and by names; neither: all of the user's. */
export interface Requested {
  readonly resourceIds?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string | null;
  readonly ipv6Address: string | null;
  readonly hours: number;
  /** the session ends this long after its last renewal; null: no lease */
  readonly leaseSeconds: number | null;
  /** of the session whose place it takes; null: it begins now and lasts `hours` */
  readonly replaced: { readonly startedAt: Date; readonly expiresAt: Date } | null;
  /** of the token that serves it; null: none */
  readonly tokenHash: string | null;
  /** the API key that starts it: with the key its token becomes invalid; null: started without a key */
  readonly apiKeyId: string | null;
  readonly reason: string | null;
  readonly ticket: string | null;
  readonly permission: Permission;
  readonly holders: readonly NewResourceIp[];
  readonly limits: LiveSessionLimits;
}

/** Why a session may start, besides the user's roles. The start checks it again. */
export interface Permission {
  /** of the patterns that roles have for reasons, those that the reason matches; null: there is no reason */
  readonly reasonPatterns: readonly string[] | null;
  /** an approved request that it uses; with `brokenBy` the id of a new one, to be reviewed; null: none */
  readonly accessRequestId: string | null;
  /** the sign-in, with a recent second factor, that starts it without approval; null: it is not started so */
  readonly brokenBy: string | null;
}

/** Maximum number of live sessions of one user; 0: no limit. */
interface LiveSessionLimits {
  readonly perUser: number;
  readonly perServiceUser: number;
}

/** The interval: sessions that overlap it. */
export interface SessionFilter extends Interval {
  readonly userId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly statuses?: readonly SessionStatus[] | undefined;
  /** IPv4 or IPv6; with what follows, looked for in each row: give a time */
  readonly address?: string | undefined;
  readonly endedReasons?: readonly EndedReason[] | undefined;
  readonly breakGlass?: boolean | undefined;
}

/** Who ends which session. */
export interface StopRequest {
  readonly id: string;
  readonly reason: Exclude<EndedReason, 'EXPIRED'>;
  /** null: any user's */
  readonly userId: string | null;
  /** `SessionRow`'s parts of the entry's resource and details are added */
  readonly audit: AuditEntry;
}

/** A live session of the user holds one of the addresses. The transaction it is thrown in is aborted. */
export class AddressTaken extends Error {
  constructor(readonly session: NewSession) {
    super('A live session of the user holds the address');
  }
}

/** A user has reached the maximum number of live sessions. The transaction it is thrown in is aborted. */
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
