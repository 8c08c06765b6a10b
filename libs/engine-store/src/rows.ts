import type {
  AdditionCause,
  DueRule,
  Instant,
  OrganizationId,
  RemovalCause,
  ResourceConfig,
  ResourceIpStatus,
  Rule,
  TargetRule,
  Times,
  Access,
} from '#rules';

/** A rule and its target, for people. The address is a CIDR. */
export type PlacedRule = Pick<
  TargetRule,
  'provider' | 'resourceType' | 'identifier' | 'address' | 'protocol' | 'ports'
>;

/** The claim of a ResourceIp on a rule. */
export interface Holder {
  readonly ruleId: string;
  readonly resourceIpId: string;
  readonly cause: AdditionCause | null;
  readonly releasedAt: Instant | null;
  readonly releaseCause: RemovalCause | null;
}

/** What changes about a ResourceIp. */
export interface ResourceIpState {
  readonly status: ResourceIpStatus;
  readonly pendingSince: Instant;
  readonly appliedAt: Instant | null;
  readonly removedAt: Instant | null;
  readonly errorMessage: string | null;
  /** it failed because its target holds no addresses of its IP version */
  readonly wrongFamily: boolean;
  /** for people: a rule of it was given up, and why; null: none was */
  readonly givenUp: string | null;
  /** the unmanaged rules that let it in after its end; null: none was observed */
  readonly stillAllowedBy: string | null;
  readonly providerRuleId: string | null;
}

/** A ResourceIp: one address on one resource, of a session or a static IP rule. */
export interface ResourceIp extends ResourceIpState {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly createdAt: Instant;
  readonly releasedAt: Instant | null;
  /** null: its resource is deleted */
  readonly resource: {
    readonly access: Access;
    readonly config: ResourceConfig;
    readonly writeVerified: boolean;
    /** why it was abandoned: removals are not waited for; null: it was not */
    readonly abandoned: string | null;
  } | null;
  /** null: of a static IP rule */
  readonly session: {
    readonly userId: string;
    readonly userEmail: string;
    readonly expiresAt: Instant;
    /** the planned end or the end of its lease, whichever is first */
    readonly endsAt: Instant;
  } | null;
  /** the planned end of its static IP rule; null: it has none, or is of a session */
  readonly staticEndsAt: Instant | null;
}

/** Rules of one target with their holders, as they were at one moment; with those elsewhere of the same addresses, where asked. */
export interface Loaded extends Times {
  /** when they were read: not before anything that was computed before the call */
  readonly readAt: Instant;
  /** since when the target may have rules that are not recorded */
  readonly knownSince: Instant;
  /** until then a write of the target's whole list may take effect */
  readonly listInFlightUntil: Instant | null;
  /** the database was restored from a backup: nothing is opened, and orphans are not closed */
  readonly isRestored: boolean;
  /** ordered by key */
  readonly rules: readonly TargetRule[];
  readonly holders: readonly Holder[];
  readonly addresses: readonly ResourceIp[];
}

/** Due rules, and when they were read. */
export interface DueRules {
  readonly now: Instant;
  readonly rules: readonly DueRule[];
}

/** Age of the reads a settlement is based on, ms. */
export interface Reading {
  readonly startedAgoMs: number;
  /** of the first read of the pass, before its changes */
  readonly firstStartedAgoMs: number;
  readonly endedAgoMs: number;
}

/** Rows to be written as they are now. */
export interface ChangedRows {
  readonly rules: readonly Rule[];
  /** `was`: the status that was read; an address whose status has changed since is not written */
  readonly addresses: readonly (ResourceIpState & { readonly id: string; readonly was: ResourceIpStatus })[];
  /** to be deleted */
  readonly ended: readonly Pick<Holder, 'ruleId' | 'resourceIpId'>[];
}
