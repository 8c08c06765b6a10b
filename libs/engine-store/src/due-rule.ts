import {
  canHoldRule,
  isHolding,
  parsePorts,
  type DueHolder,
  type DueRule,
  type Instant,
  type Protocol,
  type RemovalCause,
  type TargetRule,
} from '#rules';
import type { ResourceIp, Holder, Loaded } from './rows';

/** Longest wait for a call; a longer one was recorded before the database clock was set back. */
const MAX_IN_FLIGHT_MS = 10 * 60_000;

const isLive = ({ status }: DueHolder): boolean => isHolding(status);

/** @returns why the rule must be removed; null while a holder keeps it */
function removalCause(row: TargetRule, live: readonly DueHolder[]): RemovalCause | null {
  if (live.length === 0) return row.cause ?? 'STALE_RULE';
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

/** In flight under the id with which the provider answered its addition. */
const isAwaited = (row: TargetRule, now: Instant): boolean =>
  row.state === 'unknown' &&
  (row.inFlightUntil ?? now) > now &&
  row.providerRuleId !== null &&
  row.presentSince === null &&
  row.removalSentAt === null;

function holderOf({ cause, releasedAt }: Holder, address: ResourceIp, now: Instant): DueHolder[] {
  const { status, organizationId, resource, session, staticEndsAt } = address;
  if (resource === null || status === 'REMOVED' || status === 'FAILED') return [];
  const { access, config, writeVerified, abandoned } = resource;
  const expiresAt = session?.expiresAt ?? staticEndsAt;
  return [
    {
      status: releasedAt === null ? status : 'REMOVING',
      cause: cause!,
      access: { ...access, organizationId },
      writeVerified,
      abandoned,
      config,
      expiresAt: expiresAt && Math.round(expiresAt / 1000),
      expired: (session?.endsAt ?? staticEndsAt ?? Infinity) <= now,
    },
  ];
}

/** Derives from each rule and its holders whether it is desired, and why it is not. Unwanted rules first. */
export function dueRules(loaded: Loaded): DueRule[] {
  const addresses = new Map(loaded.addresses.map((address) => [address.id, address]));
  const holders = new Map<string, DueHolder[]>(loaded.rules.map(({ id }) => [id, []]));
  for (const holder of loaded.holders)
    holders.get(holder.ruleId)?.push(...holderOf(holder, addresses.get(holder.resourceIpId)!, loaded.now));
  return loaded.rules
    .map((row) => dueRule(row, holders.get(row.id)!, loaded))
    .toSorted(
      (one, other) =>
        Number(one.holders.some(isLive)) - Number(other.holders.some(isLive)) ||
        (one.row.dueAt ?? 0) - (other.row.dueAt ?? 0) ||
        (one.ruleId < other.ruleId ? -1 : 1),
    );
}

function dueRule(row: TargetRule, holders: readonly DueHolder[], loaded: Loaded): DueRule {
  const inFlight = inFlightMs(row, loaded);
  const live = holders.filter(isLive);
  const cause = removalCause(row, live);
  const { credentialId, region } = row;
  const removedAt = row.removalSentAt ?? loaded.now;
  return {
    row,
    ruleId: row.id,
    key: row.key,
    spec: { address: row.address, protocol: row.protocol as Protocol, ports: parsePorts(row.ports) },
    state: row.state,
    desired: cause === null,
    mayOpen: !loaded.isRestored && live.some((holder) => !holder.expired),
    isHeldBack: loaded.isRestored && cause === null,
    addCause: row.isMissing ? 'DRIFT_REPAIRED' : (live[0]?.cause ?? 'SESSION_STARTED'),
    removeCause: cause ?? 'STALE_RULE',
    recordedId: row.isUnmanaged ? null : row.providerRuleId,
    inFlight: (inFlight ?? 0) > 0,
    inFlightMs: Math.max(0, inFlight ?? 0),
    inDoubt: inFlight !== null,
    isAwaited: isAwaited(row, loaded.now),
    hasExpired: row.nativeEndAt !== null && row.nativeEndAt <= loaded.now,
    removingMs: row.presentSince === null || inFlight !== null ? null : loaded.now - removedAt,
    writtenWith: credentialId === null ? null : { credentialId, region },
    abandoned: holders.every(({ abandoned }) => abandoned !== null) ? (holders[0]?.abandoned ?? null) : null,
    holders,
  };
}
