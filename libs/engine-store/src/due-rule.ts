import {
  canHoldRule,
  type Access,
  HOLDING_STATUSES,
  parsePorts,
  type AdditionCause,
  type DueRule,
  type OrganizationId,
  type Protocol,
  type RemovalCause,
  type ResourceConfig,
  type ResourceIpStatus,
  type RuleSpec,
  type RuleState,
} from '#rules';

/** An access path of a holder, with its owner. */
interface KnownAccess extends Access {
  /** the organization that owns the credential */
  readonly organizationId: OrganizationId;
}

export interface HolderRow {
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  /** PENDING since then, as database text */
  readonly pendingSince: string;
  /** why it desires the rule */
  readonly cause: AdditionCause;
  readonly access: KnownAccess;
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

/** A due rule with its holders: PENDING, APPLIED and REMOVING ones. */
export interface DueRuleRow extends DueRule {
  readonly spec: RuleSpec;
  readonly state: RuleState;
  /** last observed present as an unmanaged rule */
  readonly isUnmanaged: boolean;
  /** as recorded, of an unmanaged rule too */
  readonly providerRuleId: string | null;
  readonly revision: number;
  readonly attempts: number;
  /** how long a call without an answer may still take effect, ms */
  readonly inFlightMs: number;
  /** such a call was made, and no read has followed since its deadline */
  readonly inDoubt: boolean;
  /** for how long the target has been missing through `writtenWith`; null: it was there at the last read */
  readonly targetMissingMs: number | null;
  /** the access path it was written through; null: never written */
  readonly writtenWith: Access | null;
  /** the owner of that credential */
  readonly writerOrganizationId: string | null;
  readonly lastError: string | null;
  /** recorded as unwanted */
  readonly isUnwanted: boolean;
  readonly isMissing: boolean;
  readonly isUnmarked: boolean;
  /** the reason its removal is not waited for: every resource of its holders was abandoned; null: it is */
  readonly abandoned: string | null;
  readonly holders: readonly HolderRow[];
}

/** A due rule as the query returns it. */
export interface RawDueRow {
  ruleId: string;
  key: string;
  address: string;
  protocol: Protocol;
  ports: string;
  state: RuleState;
  isUnmanaged: boolean;
  revision: number;
  attempts: number;
  inFlightMs: number | null;
  targetMissingMs: number | null;
  providerRuleId: string | null;
  credentialId: string | null;
  region: string | null;
  writerOrganizationId: string | null;
  lastError: string | null;
  cause: RemovalCause | null;
  isUnwanted: boolean;
  isMissing: boolean;
  isUnmarked: boolean;
  holders: HolderRow[];
}

const isLive = ({ status }: HolderRow): boolean => HOLDING_STATUSES.some((holding) => holding === status);

/** @returns why the rule must be removed; null while a holder keeps it */
function removalCause(row: RawDueRow, live: readonly HolderRow[]): RemovalCause | null {
  if (live.length === 0) return row.cause ?? 'UNRECORDED';
  const authorities = live.map(({ access, writeVerified }) => ({
    organizationId: access.organizationId,
    writeVerified,
  }));
  // an absent rule has no writer yet: any waiting holder may write it
  const isKept = row.state === 'absent' || authorities.some((holder) => canHoldRule(holder, row));
  return isKept ? null : 'WRITER_RELEASED';
}

/** Derives from the row whether the rule is desired, and why it is not. */
export function toDueRule(row: RawDueRow): DueRuleRow {
  const inFlightMs = Math.max(0, row.inFlightMs ?? 0);
  const live = row.holders.filter(isLive);
  const cause = removalCause(row, live);
  return {
    ruleId: row.ruleId,
    key: row.key,
    desired: cause === null,
    mayOpen: live.some((holder) => !holder.expired),
    addCause: row.isMissing ? 'DRIFT_REPAIRED' : (live[0]?.cause ?? 'SESSION_STARTED'),
    removeCause: cause ?? 'UNRECORDED',
    inFlight: inFlightMs > 0,
    inFlightMs,
    inDoubt: row.inFlightMs !== null,
    targetMissingMs: row.targetMissingMs,
    recordedId: row.isUnmanaged ? null : row.providerRuleId,
    providerRuleId: row.providerRuleId,
    spec: { address: row.address, protocol: row.protocol, ports: parsePorts(row.ports) },
    state: row.state,
    isUnmanaged: row.isUnmanaged,
    revision: row.revision,
    attempts: row.attempts,
    writtenWith: row.credentialId ? { credentialId: row.credentialId, region: row.region } : null,
    writerOrganizationId: row.writerOrganizationId,
    lastError: row.lastError,
    isUnwanted: row.isUnwanted,
    isMissing: row.isMissing,
    isUnmarked: row.isUnmarked,
    abandoned: row.holders.every(({ abandoned }) => abandoned !== null)
      ? (row.holders[0]?.abandoned ?? null)
      : null,
    holders: row.holders,
  };
}
