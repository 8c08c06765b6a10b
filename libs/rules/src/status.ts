import type { Rule, RuleState } from './rule';

/** Statuses of the API contract and their allowed transitions. Every UPDATE checks the expected status. */
export const SESSION_STATUSES = [
  'PENDING',
  'ACTIVE',
  'PARTIAL',
  'FAILED',
  'EXPIRING',
  'EXPIRED',
  'CANCELLED',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const RESOURCE_IP_STATUSES = ['PENDING', 'APPLIED', 'FAILED', 'REMOVING', 'REMOVED'] as const;
export type ResourceIpStatus = (typeof RESOURCE_IP_STATUSES)[number];

export const ENDED_REASONS = ['EXPIRED', 'MANUAL', 'ADMIN'] as const;
export type EndedReason = (typeof ENDED_REASONS)[number];

export const SESSION_MOVES: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  PENDING: ['ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING'],
  ACTIVE: ['PARTIAL', 'FAILED', 'EXPIRING'],
  // ACTIVE again when a suspended rule is repaired
  PARTIAL: ['ACTIVE', 'FAILED', 'EXPIRING'],
  FAILED: [],
  EXPIRING: ['EXPIRED', 'CANCELLED'],
  EXPIRED: [],
  CANCELLED: [],
};

export const RESOURCE_IP_MOVES: Readonly<Record<ResourceIpStatus, readonly ResourceIpStatus[]>> = {
  PENDING: ['APPLIED', 'FAILED', 'REMOVING'],
  // PENDING again when its resource moves: the address must be applied on another target
  APPLIED: ['PENDING', 'REMOVING'],
  // FAILED when a rule of it was given up: not observed to be gone
  REMOVING: ['REMOVED', 'FAILED'],
  FAILED: [],
  REMOVED: [],
};

/** A live session desires its rules, counts for the limit of one per address, and can be stopped or extended. */
export const LIVE_SESSION_STATUSES = [
  'PENDING',
  'ACTIVE',
  'PARTIAL',
] as const satisfies readonly SessionStatus[];

/** Statuses in which a ResourceIp desires its rules. */
export const HOLDING_STATUSES = ['PENDING', 'APPLIED'] as const satisfies readonly ResourceIpStatus[];
export const isHolding = (status: ResourceIpStatus): boolean =>
  HOLDING_STATUSES.some((holding) => holding === status);

/** What decides whether a ResourceIp of a session is skipped. */
export interface FamilyIp {
  readonly status: ResourceIpStatus;
  readonly ipVersion: number;
  /** it FAILED because its target holds no addresses of its IP version */
  readonly isWrongFamily: boolean;
}

/**
 * Divides the ResourceIps of a session: an address is skipped on targets that hold no addresses of its IP version, when it
 * has not failed on another resource. If it has failed on all of them, nothing is skipped.
 */
export function divideSkipped<Ip extends FamilyIp>(ips: readonly Ip[]): { held: Ip[]; skipped: Ip[] } {
  const families = new Set(ips.filter(({ status }) => status !== 'FAILED').map(({ ipVersion }) => ipVersion));
  const isSkipped = ({ status, ipVersion, isWrongFamily }: Ip): boolean =>
    status === 'FAILED' && isWrongFamily && families.has(ipVersion);
  return { held: ips.filter((ip) => !isSkipped(ip)), skipped: ips.filter(isSkipped) };
}

/** The statuses that decide a session's status: those of its ResourceIps that are not skipped. */
export const heldStatuses = (ips: readonly FamilyIp[]): ResourceIpStatus[] =>
  divideSkipped(ips).held.map(({ status }) => status);

/**
 * Derives a session's status from its ResourceIps.
 * @param ips the statuses of its ResourceIps, see `heldStatuses`
 * @param endedReason null while it is live
 * @param isSuspended one of its ResourceIps waits for a rule that is suspended, or that another program removed or changed
 * @returns the new status, or `current` when it does not change yet
 */
export function sessionStatus(
  current: SessionStatus,
  ips: readonly ResourceIpStatus[],
  endedReason: EndedReason | null,
  isSuspended = false,
): SessionStatus {
  if (LIVE_SESSION_STATUSES.some((live) => live === current)) {
    if (isSuspended && current === 'ACTIVE') return 'PARTIAL';
    const overall = overallStatus(ips);
    return overall === 'PENDING' ? current : overall;
  }
  if (current === 'EXPIRING' && !ips.includes('REMOVING'))
    return endedReason === 'EXPIRED' ? 'EXPIRED' : 'CANCELLED';
  return current;
}

/** State of one of a ResourceIp's rules. */
export interface HeldRule {
  readonly state: RuleState;
  /** another live holder desires it */
  readonly hasOtherHolder: boolean;
}

/**
 * Derives a ResourceIp's status from its rules (one, or one per port).
 * @param failed the addition of one of them was given up
 */
export function resourceIpStatus(
  current: ResourceIpStatus,
  rules: readonly HeldRule[],
  failed: boolean,
): ResourceIpStatus {
  if (current === 'PENDING') {
    if (failed) return 'FAILED';
    return rules.every((rule) => rule.state === 'present') ? 'APPLIED' : 'PENDING';
  }
  if (current === 'REMOVING') {
    return rules.every((rule) => rule.hasOtherHolder || rule.state === 'absent') ? 'REMOVED' : 'REMOVING';
  }
  return current;
}

/** A ResourceIp whose rules were settled by a pass. */
export interface SettledIp {
  readonly id: string;
  readonly status: ResourceIpStatus;
  /** PENDING for so long that its missing rules are given up */
  readonly timedOut: boolean;
  /** for people: a rule of it was given up, and why; null: none was */
  readonly givenUp: string | null;
  /** ordered by key */
  readonly rules: readonly Pick<Rule, 'id' | 'state' | 'providerRuleId' | 'lastError'>[];
}

export interface ResourceIpMove {
  readonly to: ResourceIpStatus;
  /** the provider's message; null unless it failed */
  readonly errorMessage: string | null;
  /** of all its rules, comma-separated */
  readonly providerRuleId: string | null;
}

/** Whether another ResourceIp holds a rule. @param failing ResourceIps that fail in this settlement and release it */
type HoldsBesides = (ruleId: string, ownIpId: string, failing: ReadonlySet<string>) => boolean;

/**
 * The status changes of ResourceIps after a pass. A failing ResourceIp no longer holds its rules.
 * @param failed the rules whose addition was given up
 * @param wasRead the target was read through the ResourceIp's own access path. An earlier observation through another path
 *   does not prove that this one reaches the target.
 */
export function resourceIpMoves<Ip extends SettledIp>(
  ips: readonly Ip[],
  failed: ReadonlySet<string>,
  wasRead: boolean,
  isHeldBesides: HoldsBesides,
): { ip: Ip; move: ResourceIpMove }[] {
  const moveOf = (ip: Ip, failing: ReadonlySet<string>): ResourceIpMove | null =>
    resourceIpMove(ip, failed, wasRead, (ruleId) => isHeldBesides(ruleId, ip.id, failing));
  const failing = new Set(ips.filter((ip) => moveOf(ip, new Set())?.to === 'FAILED').map(({ id }) => id));
  return ips.flatMap((ip) => {
    const move = moveOf(ip, failing);
    return move ? [{ ip, move }] : [];
  });
}

function resourceIpMove(
  ip: SettledIp,
  failed: ReadonlySet<string>,
  wasRead: boolean,
  hasOtherHolder: (ruleId: string) => boolean,
): ResourceIpMove | null {
  const refused = ip.rules.find((rule) => failed.has(rule.id));
  const missing = ip.rules.find((rule) => rule.state !== 'present');
  const givenUp = refused !== undefined || (ip.timedOut && missing !== undefined);
  const rules = ip.rules.map((rule) => ({ state: rule.state, hasOtherHolder: hasOtherHolder(rule.id) }));
  const status = resourceIpStatus(ip.status, rules, givenUp);
  const to = status === 'REMOVED' && ip.givenUp !== null ? 'FAILED' : status;
  if (to === ip.status || (to === 'APPLIED' && !wasRead)) return null;
  const message = ip.givenUp ?? (refused ?? missing)?.lastError ?? 'The provider did not apply it in time';
  const ids = ip.rules.flatMap((rule) => rule.providerRuleId || []);
  return { to, errorMessage: to === 'FAILED' ? message : null, providerRuleId: ids.join(',') || null };
}

export const STATIC_IP_RULE_STATUSES = ['PENDING', 'ACTIVE', 'PARTIAL', 'FAILED'] as const;
export type StaticIpRuleStatus = (typeof STATIC_IP_RULE_STATUSES)[number];

/**
 * The combined status of ResourceIps: that of a static IP rule, and of a live session.
 * @param ips at least one, without those being removed
 */
export function overallStatus(ips: readonly ResourceIpStatus[]): StaticIpRuleStatus {
  if (ips.includes('PENDING')) return 'PENDING';
  if (!ips.includes('FAILED')) return 'ACTIVE';
  return ips.includes('APPLIED') ? 'PARTIAL' : 'FAILED';
}
