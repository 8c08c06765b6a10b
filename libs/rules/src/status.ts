import type { RuleState } from './planner';

/** Statuses of the contract and the only moves between them: every UPDATE names the status it expects from here. */
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
  // ACTIVE again when another program leaves its rule alone
  PARTIAL: ['ACTIVE', 'FAILED', 'EXPIRING'],
  FAILED: [],
  EXPIRING: ['EXPIRED', 'CANCELLED'],
  EXPIRED: [],
  CANCELLED: [],
};

export const RESOURCE_IP_MOVES: Readonly<Record<ResourceIpStatus, readonly ResourceIpStatus[]>> = {
  PENDING: ['APPLIED', 'FAILED', 'REMOVING'],
  // back to PENDING when its resource moves: the address is then to be applied in another place
  APPLIED: ['PENDING', 'REMOVING'],
  REMOVING: ['REMOVED'],
  FAILED: [],
  REMOVED: [],
};

/** A live session lets its address in, holds its place in the one-per-address rule, and can be stopped or extended. */
export const LIVE_SESSION_STATUSES = [
  'PENDING',
  'ACTIVE',
  'PARTIAL',
] as const satisfies readonly SessionStatus[];

/** A ResourceIp in one of these wants its cloud rules to exist. */
export const HOLDING_STATUSES = ['PENDING', 'APPLIED'] as const satisfies readonly ResourceIpStatus[];

const isLiveStatus = (status: SessionStatus): boolean =>
  LIVE_SESSION_STATUSES.some((live) => live === status);

const has = (ips: readonly ResourceIpStatus[], status: ResourceIpStatus): boolean => ips.includes(status);

/**
 * The status a session has by the state of its rules.
 * @param current its status now
 * @param ips the statuses of all its ResourceIps
 * @param endedReason why it ends; null while it is live
 * @param isSuspended one of them waits until another program leaves its rule alone
 * @returns the status to move to, or `current` when nothing is decided yet
 */
export function sessionStatus(
  current: SessionStatus,
  ips: readonly ResourceIpStatus[],
  endedReason: EndedReason | null,
  isSuspended = false,
): SessionStatus {
  if (isLiveStatus(current)) {
    if (isSuspended && current === 'ACTIVE') return 'PARTIAL';
    const overall = overallStatus(ips);
    return overall === 'PENDING' ? current : overall;
  }
  if (current === 'EXPIRING' && !has(ips, 'REMOVING'))
    return endedReason === 'EXPIRED' ? 'EXPIRED' : 'CANCELLED';
  return current;
}

/** How one of a ResourceIp's cloud rules stands. */
export interface HeldRule {
  readonly state: RuleState;
  /** another live holder keeps it */
  readonly keptByOthers: boolean;
}

/**
 * The status a ResourceIp has by the state of its cloud rules (one, or one for each port).
 * @param failed adding one of them was given up
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
    return rules.every((rule) => rule.keptByOthers || rule.state === 'absent') ? 'REMOVED' : 'REMOVING';
  }
  return current;
}

/** A rule that ResourceIps hold or are being removed from. */
export interface SettledRule {
  readonly ruleId: string;
  readonly state: RuleState;
  readonly providerRuleId: string | null;
  readonly lastError: string | null;
  /** ids of the ResourceIps that keep it whatever this settlement decides */
  readonly keepers: ReadonlySet<string>;
  /** ids of those that wait for it and may fail in this settlement: then they keep it no more */
  readonly waiting: ReadonlySet<string>;
}

/** A ResourceIp whose rules a pass settled. */
export interface SettledIp {
  readonly id: string;
  readonly status: ResourceIpStatus;
  /** it has waited for so long that what is still missing is given up */
  readonly overdue: boolean;
  /** by their keys */
  readonly rules: readonly SettledRule[];
}

export interface ResourceIpMove {
  readonly to: ResourceIpStatus;
  /** in the provider's words; null unless it failed */
  readonly errorMessage: string | null;
  /** of all its rules */
  readonly providerRuleId: string | null;
}

const hasOther = (ids: ReadonlySet<string>, own: string): boolean => ids.size > (ids.has(own) ? 1 : 0);

/** Another one keeps it. @param failing those that keep it no more */
const isKept = (rule: SettledRule, own: string, failing: ReadonlySet<string>): boolean =>
  hasOther(rule.keepers, own) || [...rule.waiting].some((id) => id !== own && !failing.has(id));

/**
 * Where ResourceIps move after a pass, without those that stay. Who fails keeps a rule no more.
 * @param failed the rules whose adding was given up
 * @param looked the provider answered: what others saw before is no proof that a waiting one's own way leads there
 */
export function resourceIpMoves<Ip extends SettledIp>(
  ips: readonly Ip[],
  failed: ReadonlySet<string>,
  looked: boolean,
): { ip: Ip; move: ResourceIpMove }[] {
  const moveOf = (ip: Ip, failing: ReadonlySet<string>): ResourceIpMove | null =>
    resourceIpMove(ip, failed, looked, (rule) => isKept(rule, ip.id, failing));
  const failing = new Set(ips.filter((ip) => moveOf(ip, new Set())?.to === 'FAILED').map(({ id }) => id));
  return ips.flatMap((ip) => {
    const move = moveOf(ip, failing);
    return move ? [{ ip, move }] : [];
  });
}

function resourceIpMove(
  ip: SettledIp,
  failed: ReadonlySet<string>,
  looked: boolean,
  isKeptByOthers: (rule: SettledRule) => boolean,
): ResourceIpMove | null {
  const refused = ip.rules.find((rule) => failed.has(rule.ruleId));
  const missing = ip.rules.find((rule) => rule.state !== 'present');
  const givenUp = refused !== undefined || (ip.overdue && missing !== undefined);
  const rules = ip.rules.map((rule) => ({ state: rule.state, keptByOthers: isKeptByOthers(rule) }));
  const to = resourceIpStatus(ip.status, rules, givenUp);
  if (to === ip.status || (to === 'APPLIED' && !looked)) return null;
  const words = (refused ?? missing)?.lastError ?? 'The provider did not apply it in time';
  const ids = ip.rules.flatMap((rule) => rule.providerRuleId || []);
  return { to, errorMessage: to === 'FAILED' ? words : null, providerRuleId: ids.join(',') || null };
}

export const STATIC_IP_RULE_STATUSES = ['PENDING', 'ACTIVE', 'PARTIAL', 'FAILED'] as const;
export type StaticIpRuleStatus = (typeof STATIC_IP_RULE_STATUSES)[number];

/**
 * The status that openings have together: a static IP rule's, and the one a live session follows.
 * @param entries at least one, without those that are being taken out
 */
export function overallStatus(entries: readonly ResourceIpStatus[]): StaticIpRuleStatus {
  if (has(entries, 'PENDING')) return 'PENDING';
  if (!has(entries, 'FAILED')) return 'ACTIVE';
  return has(entries, 'APPLIED') ? 'PARTIAL' : 'FAILED';
}
