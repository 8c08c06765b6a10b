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
  ACTIVE: ['EXPIRING'],
  PARTIAL: ['EXPIRING'],
  FAILED: [],
  EXPIRING: ['EXPIRED', 'CANCELLED'],
  EXPIRED: [],
  CANCELLED: [],
};

export const RESOURCE_IP_MOVES: Readonly<Record<ResourceIpStatus, readonly ResourceIpStatus[]>> = {
  PENDING: ['APPLIED', 'FAILED', 'REMOVING'],
  APPLIED: ['REMOVING'],
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

const has = (ips: readonly ResourceIpStatus[], status: ResourceIpStatus): boolean => ips.includes(status);

/**
 * The status a session has by the state of its rules.
 * @param current its status now
 * @param ips the statuses of all its ResourceIps
 * @param endedReason why it ends; null while it is live
 * @returns the status to move to, or `current` when nothing is decided yet
 */
export function sessionStatus(
  current: SessionStatus,
  ips: readonly ResourceIpStatus[],
  endedReason: EndedReason | null,
): SessionStatus {
  if (current === 'PENDING') {
    if (has(ips, 'PENDING')) return 'PENDING';
    if (!has(ips, 'FAILED')) return 'ACTIVE';
    return has(ips, 'APPLIED') ? 'PARTIAL' : 'FAILED';
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
