import {
  canHoldRule,
  HOLDING_STATUSES,
  parsePorts,
  type Access,
  type AdditionCause,
  type DueRule,
  type Instant,
  type OrganizationId,
  type Protocol,
  type RemovalCause,
  type ResourceConfig,
  type ResourceIpStatus,
  type RuleSpec,
  type RuleState,
} from '#rules';
import type { Address, Holder, Loaded, TargetRule } from './rows';

/** An access path of a holder, with its owner. */
interface KnownAccess extends Access {
  /** the organization that owns the credential */
  readonly organizationId: OrganizationId;
}

/** A holder of a due rule. */
export interface HolderRow {
  readonly resourceIpId: string;
  /** REMOVING once it has released the rule */
  readonly status: ResourceIpStatus;
  readonly pendingSince: Instant;
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
  readonly isMissing: boolean;
  readonly isUnmarked: boolean;
  /** it is desired, and may not be added until an operator confirms the restored database */
  readonly isHeldBack: boolean;
  /** the reason its removal is not waited for: every resource of its holders was abandoned; null: it is */
  readonly abandoned: string | null;
  readonly holders: readonly HolderRow[];
}

/** Longest wait for a call; a longer one was recorded before the database clock was set back. */
const MAX_IN_FLIGHT_MS = 10 * 60_000;

const isLive = ({ status }: HolderRow): boolean => HOLDING_STATUSES.some((holding) => holding === status);

/** @returns why the rule must be removed; null while a holder keeps it */
function removalCause(row: TargetRule, live: readonly HolderRow[]): RemovalCause | null {
  if (live.length === 0) return row.cause ?? 'UNRECORDED';
  const authorities = live.map(({ access, writeVerified }) => ({
    organizationId: access.organizationId,
    writeVerified,
  }));
  // an absent rule has no writer yet: any waiting holder may write it
  const isKept = row.state === 'absent' || authorities.some((holder) => canHoldRule(holder, row));
  return isKept ? null : 'WRITER_RELEASED';
}

/** How long a call for the rule or for the target's whole list may still take effect; null: none was made since the last read. */
function inFlightMs({ inFlightUntil }: TargetRule, { now, listInFlightUntil }: Loaded): number | null {
  const longest = now + MAX_IN_FLIGHT_MS;
  const ends = [
    ...(inFlightUntil === null ? [] : [inFlightUntil <= longest ? inFlightUntil : now]),
    ...(listInFlightUntil === null || listInFlightUntil < now || listInFlightUntil > longest
      ? []
      : [listInFlightUntil]),
  ];
  return ends.length === 0 ? null : Math.max(...ends) - now;
}

function holderOf({ cause, releasedAt }: Holder, address: Address, now: Instant): HolderRow[] {
  const { id, status, pendingSince, organizationId, resource, session } = address;
  if (resource === null || status === 'REMOVED' || status === 'FAILED') return [];
  const { access, config, writeVerified, abandoned } = resource;
  return [
    {
      resourceIpId: id,
      status: releasedAt === null ? status : 'REMOVING',
      pendingSince,
      cause: cause!,
      access: { ...access, organizationId },
      writeVerified,
      abandoned,
      config,
      expiresAt: session && Math.round(session.expiresAt / 1000),
      expired: session !== null && session.endsAt <= now,
    },
  ];
}

/** Derives from each rule and its holders whether it is desired, and why it is not. Unwanted rules first. */
export function dueRules(loaded: Loaded): DueRuleRow[] {
  const addresses = new Map(loaded.addresses.map((address) => [address.id, address]));
  const holders = new Map<string, HolderRow[]>(loaded.rules.map(({ id }) => [id, []]));
  for (const holder of loaded.holders)
    holders.get(holder.ruleId)!.push(...holderOf(holder, addresses.get(holder.resourceIpId)!, loaded.now));
  return loaded.rules
    .map((rule) => ({ rule, row: dueRule(rule, holders.get(rule.id)!, loaded) }))
    .toSorted(
      (one, other) =>
        Number(one.row.holders.some(isLive)) - Number(other.row.holders.some(isLive)) ||
        one.rule.dueAt! - other.rule.dueAt! ||
        (one.rule.id < other.rule.id ? -1 : 1),
    )
    .map(({ row }) => row);
}

function dueRule(row: TargetRule, holders: readonly HolderRow[], loaded: Loaded): DueRuleRow {
  const inFlight = inFlightMs(row, loaded);
  const live = holders.filter(isLive);
  const cause = removalCause(row, live);
  const { credentialId, region, targetMissingSince } = row;
  const removedAt = row.removalSentAt ?? loaded.now;
  return {
    ruleId: row.id,
    key: row.key,
    desired: cause === null,
    mayOpen: !loaded.isRestored && live.some((holder) => !holder.expired),
    isHeldBack: loaded.isRestored && cause === null,
    addCause: row.isMissing ? 'DRIFT_REPAIRED' : (live[0]?.cause ?? 'SESSION_STARTED'),
    removeCause: cause ?? 'UNRECORDED',
    inFlight: (inFlight ?? 0) > 0,
    inFlightMs: Math.max(0, inFlight ?? 0),
    inDoubt: inFlight !== null,
    targetMissingMs: targetMissingSince === null ? null : loaded.now - targetMissingSince,
    removingMs: row.presentSince === null || inFlight !== null ? null : loaded.now - removedAt,
    recordedId: row.isUnmanaged ? null : row.providerRuleId,
    providerRuleId: row.providerRuleId,
    spec: { address: row.address, protocol: row.protocol as Protocol, ports: parsePorts(row.ports) },
    state: row.state,
    isUnmanaged: row.isUnmanaged,
    revision: row.revision,
    attempts: row.attempts,
    writtenWith: credentialId === null ? null : { credentialId, region },
    writerOrganizationId: row.writerOrganizationId,
    lastError: row.lastError,
    isMissing: row.isMissing,
    isUnmarked: row.isUnmarked,
    abandoned: holders.every(({ abandoned }) => abandoned !== null) ? (holders[0]?.abandoned ?? null) : null,
    holders,
  };
}
