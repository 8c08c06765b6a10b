import type { GrantRow } from '#tenant-store';
import {
  ANY_REASON,
  demandOf,
  isGlobMatch,
  type Brought,
  type Demand,
  type DemandRefusal,
  type NamedRole,
  type Tier,
} from '#rules';
import { approvalRequired, forbidden, invalidField, notPossible, type ApiError } from '../errors/api-error';

const HOUR_MS = 60 * 60 * 1000;

/** @returns hours of a session, also of one that keeps the times of another */
export const hoursOf = (
  hours: number,
  kept: { readonly startedAt: Date; readonly expiresAt: Date } | null,
): number => (kept ? (kept.expiresAt.getTime() - kept.startedAt.getTime()) / HOUR_MS : hours);

/**
 * What a session on these resources needs besides their roles.
 * @throws ApiError 400 on the field when a reason is missing or is not like the pattern, 403 when it may not do without
 *   approval, 400 when no user may decide on all of the resources
 */
export function sessionDemand(tier: Tier, grants: readonly GrantRow[], brought: Brought): Demand {
  const demand = demandOf(tier, grants, brought);
  if ('refusal' in demand) throw refusalOf(demand, brought);
  return demand;
}

function refusalOf(refused: DemandRefusal, { reason }: Brought): ApiError {
  if (refused.refusal === 'break-glass') {
    return forbidden(`None of your roles on resource "${refused.resourceName}" allows breakGlass`);
  }
  if (refused.refusal === 'deciders') {
    const [one, other] = refused.setBy;
    return notPossible(`Different people decide for ${one} and ${other}: ask for each resource by itself`);
  }
  const like = refused.pattern === null ? '' : ` like ${refused.pattern}`;
  const message = reason === null ? `is required${like}: ${refused.setBy} asks for it` : `must be${like}`;
  return invalidField('reason', message);
}

/** 403 that says what to do. */
export function needsApproval({ approvals, approverRoles, setBy }: Demand): ApiError {
  const needed = `${approvalsText(approvals)} by ${decidersText(approverRoles)}`;
  return approvalRequired(`${setBy} needs ${needed}: ask with POST /access-requests`);
}

export const approvalsText = (count: number): string => (count === 1 ? 'an approval' : `${count} approvals`);

/** Who may decide, for people. */
export function decidersText(roles: readonly NamedRole[]): string {
  if (roles.length === 0) return 'other administrators';
  const names = roles.map(({ name }) => `"${name}"`).join(' or ');
  return `other members of ${names}`;
}

/** Of the patterns of the roles, those that a reason matches; null: there is no reason. */
export function matchedPatterns(grants: readonly GrantRow[], reason: string | null): string[] | null {
  if (reason === null) return null;
  const patterns = grants.flatMap(({ roles }) =>
    roles.map(({ reasonPattern }) => reasonPattern ?? ANY_REASON),
  );
  return [...new Set(patterns)].filter((pattern) => isGlobMatch(reason, pattern));
}
