import type { ResourceIp, Loaded } from '#engine-store';
import {
  APPLY_TIMEOUT_MS,
  canHoldRule,
  givenUpMessage,
  grouped,
  NOT_FOUND_TIMEOUT_MS,
  resourceIpMoves,
  type ResourceIpStatus,
  type SettledIp,
} from '#rules';
import type { Decisions, Settlement } from './settlement';
import type { Affected, AffectedHolder, TargetRows } from './target-rows';

/** A status change of a ResourceIp; with the same status, only its message changes. */
export interface IpMove {
  readonly id: string;
  readonly from: ResourceIpStatus;
  readonly to: ResourceIpStatus;
  readonly errorMessage: string | null;
  readonly providerRuleId: string | null;
  /** it failed because its target holds no addresses of its IP version */
  readonly isWrongFamily: boolean;
}

export const isFinal = (status: ResourceIpStatus): boolean => status === 'REMOVED' || status === 'FAILED';

/** An addition that was given up, not a removal. */
export const isRefusal = ({ from, to }: IpMove): boolean => from !== 'REMOVING' && to === 'FAILED';

/**
 * Notes on the released addresses of ended rules how they ended; the first of an address's rules counts. What still allows an
 * address is shown to those only whose own credential has read the target.
 */
export function noteEnds(rows: TargetRows, decisions: Decisions): void {
  const names = new Map<string, Set<string>>();
  for (const [ruleId, { isAbsent, givenUp, stillAllowedBy = null }] of decisions) {
    const { presentSince, possibleSince } = rows.ruleBefore(ruleId);
    if (!isAbsent || (presentSince === null && possibleSince === null)) continue;
    const released = rows.addressesOf(
      ruleId,
      ({ status }, { releasedAt }) => releasedAt !== null && !isFinal(status),
    );
    for (const { id, givenUp: before } of released) {
      if (givenUp) rows.change(id, { givenUp: before ?? givenUpMessage(givenUp.reason) });
      else if (stillAllowedBy !== null) names.set(id, (names.get(id) ?? new Set()).add(stillAllowedBy));
    }
  }
  for (const [id, allowing] of names) {
    const { status, appliedAt, stillAllowedBy } = rows.address(id);
    if (status === 'REMOVING' && appliedAt !== null)
      rows.change(id, { stillAllowedBy: stillAllowedBy ?? [...allowing].toSorted().join(', ') });
  }
}

/** Status changes of ResourceIps, derived from their rules. */
export function movesOf(
  { ips, holders, rules }: Affected,
  decisions: Decisions,
  settlement: Settlement,
  { now, isRestored }: Loaded,
): IpMove[] {
  const known = new Map(rules.map((rule) => [rule.id, rule]));
  const live = grouped(
    holders.filter((holder) => holder.isLive && canHoldRule(holder, known.get(holder.ruleId)!)),
    ({ ruleId }) => ruleId,
  );
  // an address that moved is removed when it is gone from where it was, too
  const byIp = grouped(
    holders.filter(({ isDetached, status }) => !isDetached || status === 'REMOVING'),
    ({ resourceIpId }) => resourceIpId,
  );
  const candidates = ips.map((ip): SettledIp => {
    const held = new Set((byIp.get(ip.id) ?? []).map(({ ruleId }) => ruleId));
    return {
      ...ip,
      // an operator decides when they are opened: that may take longer
      timedOut: !isRestored && ip.pendingSince < now - giveUpMsOf(ip, settlement),
      rules: rules.filter(({ id }) => held.has(id)),
    };
  });
  const failed = new Map(
    [...decisions].flatMap(([id, one]) => (one.failed ? [[id, one.failed] as const] : [])),
  );
  const isHeldBesides = (ruleId: string, ipId: string, failing: ReadonlySet<string>): boolean =>
    (live.get(ruleId) ?? []).some(
      ({ resourceIpId, waits }) => resourceIpId !== ipId && !(waits && failing.has(resourceIpId)),
    );
  const wasRead = Boolean(settlement.reading);
  return resourceIpMoves(candidates, new Set(failed.keys()), wasRead, isHeldBesides).map(({ ip, move }) => ({
    id: ip.id,
    from: ip.status,
    ...move,
    // how a removal is known, or what it left behind
    errorMessage: move.errorMessage ?? (move.to === 'REMOVED' ? noteOn(ip, decisions) : null),
    isWrongFamily: move.to === 'FAILED' && ip.rules.some(({ id }) => failed.get(id) === 'wrong-family'),
  }));
}

/** What was let in once is waited for as long as ever: "not found" is also the answer of a replica that lags behind. */
const giveUpMsOf = (
  { appliedAt, status }: ResourceIp,
  { isNotFound = false, applyTimeoutMs = APPLY_TIMEOUT_MS }: Settlement,
): number =>
  isNotFound && status === 'PENDING' && appliedAt === null ? NOT_FOUND_TIMEOUT_MS : applyTimeoutMs;

const noteOn = (ip: SettledIp, decisions: Decisions): string | null =>
  ip.rules.map(({ id }) => decisions.get(id)?.note ?? null).find((note) => note !== null) ?? null;

export function moveAddress(
  rows: TargetRows,
  { id, to, errorMessage, providerRuleId, isWrongFamily }: IpMove,
): void {
  const { now } = rows.loaded;
  rows.change(id, {
    status: to,
    errorMessage,
    wrongFamily: rows.address(id).wrongFamily || isWrongFamily,
    ...(to === 'APPLIED' && { givenUp: null, providerRuleId, appliedAt: now }),
    ...(to === 'REMOVED' && { removedAt: now }),
  });
}

/** Shown instead of what another organization's provider says. */
const REMOVED_BY_OTHERS =
  'Its rule is removed with the credential of another organization, and that has failed so far';

/** The new messages of ResourceIps that go on waiting for a rule of this settlement: why it was not changed. */
export function reasonsOf(
  { ips, holders, rules }: Affected,
  moves: readonly IpMove[],
  decisions: Decisions,
  settlement: Settlement,
): IpMove[] {
  if (settlement.isAwaited) return [];
  const owner = settlement.access?.organizationId ?? null;
  const moved = new Set(moves.map(({ id }) => id));
  const heldBy = grouped(holders, ({ resourceIpId }: AffectedHolder) => resourceIpId);
  return ips.flatMap((ip): IpMove[] => {
    if (moved.has(ip.id)) return [];
    const isRemoving = ip.status === 'REMOVING';
    const held = new Set((heldBy.get(ip.id) ?? []).map(({ ruleId }) => ruleId));
    const reason = rules.find(
      ({ id, lastError, unwantedSince }) =>
        held.has(id) && decisions.has(id) && lastError !== null && isRemoving === (unwantedSince !== null),
    );
    if (!reason) return [];
    const isOwn = owner === null || owner === ip.organizationId;
    const errorMessage = isOwn ? reason.lastError : REMOVED_BY_OTHERS;
    if (errorMessage === ip.errorMessage) return [];
    const { id, status } = ip;
    return [{ id, from: status, to: status, errorMessage, providerRuleId: null, isWrongFamily: false }];
  });
}
