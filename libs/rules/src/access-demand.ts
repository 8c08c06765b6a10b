import { TIER_LIMITS, type Tier } from './durations';

/** Whose members decide. */
export interface NamedRole {
  readonly id: string;
  readonly name: string;
}

/** A role of a user on a resource: for how long, and what it asks for. */
export interface GrantingRole {
  readonly name: string;
  /** null: the maximum of the tier */
  readonly maxSessionDurationHours: number | null;
  readonly requireReason: boolean;
  /** that a required reason matches; null: any */
  readonly reasonPattern: string | null;
  /** by others, before a session starts */
  readonly approvals: number;
  /** whose members decide; empty: administrators */
  readonly approverRoles: readonly NamedRole[];
  readonly mayBreakGlass: boolean;
  readonly ipv6PrefixLength: number;
}

interface DemandingGrant {
  readonly resourceName: string;
  readonly roles: readonly GrantingRole[];
}

/** What a start brings. */
export interface Brought {
  readonly hours: number;
  readonly reason: string | null;
  readonly breakGlass: boolean;
}

/** What a session on some resources still needs: of several resources the strictest counts. */
export interface Demand {
  /** 0: none */
  readonly approvals: number;
  /** whose members decide; empty: administrators */
  readonly approverRoles: readonly NamedRole[];
  /** the role and the resource that ask for approval, for messages; null: none does */
  readonly setBy: string | null;
  /** of what is opened for an IPv6 address */
  readonly ipv6PrefixLength: number;
}

/** Why a start is refused before anybody is asked. */
export type DemandRefusal =
  | { readonly refusal: 'reason'; readonly pattern: string | null; readonly setBy: string }
  | { readonly refusal: 'break-glass'; readonly resourceName: string }
  /** no user may decide on all of the resources */
  | { readonly refusal: 'deciders'; readonly setBy: readonly [string, string] };

/** The pattern of a role that takes any reason. */
export const ANY_REASON = '*';

/**
 * What a session needs besides roles that allow its duration. On each resource the user's most lenient role counts, as it
 * does for the duration: fewest approvals first.
 * @param grants each with a role that allows the hours
 */
export function demandOf(
  tier: Tier,
  grants: readonly DemandingGrant[],
  brought: Brought,
): Demand | DemandRefusal {
  let demand: Demand = { approvals: 0, approverRoles: [], setBy: null, ipv6PrefixLength: 64 };
  for (const grant of grants) {
    const role = roleOf(tier, grant, brought);
    if ('refusal' in role) return role;
    const ipv6PrefixLength = Math.max(demand.ipv6PrefixLength, role.ipv6PrefixLength);
    const setBy = `role "${role.name}" on resource "${grant.resourceName}"`;
    const both = role.approvals === 0 || brought.breakGlass ? demand : stricter(demand, role, setBy);
    if ('refusal' in both) return both;
    demand = { ...both, ipv6PrefixLength };
  }
  return demand;
}

function roleOf(
  tier: Tier,
  { resourceName, roles }: DemandingGrant,
  { hours, reason, breakGlass }: Brought,
): GrantingRole | DemandRefusal {
  const longest = TIER_LIMITS[tier].sessionHours;
  const fitting = roles
    .filter(({ maxSessionDurationHours }) => (maxSessionDurationHours ?? longest) >= hours)
    .toSorted((one, other) => one.approvals - other.approvals);
  const usable = breakGlass ? fitting.filter(({ mayBreakGlass }) => mayBreakGlass) : fitting;
  const [first] = usable;
  if (!first) return { refusal: 'break-glass', resourceName };
  const explained = usable.find((role) => isExplained(role, reason));
  if (explained) return explained;
  const setBy = `role "${first.name}" on resource "${resourceName}"`;
  return { refusal: 'reason', pattern: first.reasonPattern, setBy };
}

const isExplained = ({ requireReason, reasonPattern }: GrantingRole, reason: string | null): boolean =>
  !requireReason || (reason !== null && isGlobMatch(reason, reasonPattern ?? ANY_REASON));

function stricter(
  demand: Demand,
  { approvals, approverRoles }: GrantingRole,
  setBy: string,
): Demand | DemandRefusal {
  if (demand.setBy === null) return { ...demand, approvals, approverRoles, setBy };
  const common = approverRoles.filter(({ id }) => demand.approverRoles.some((other) => other.id === id));
  const areAdministrators = approverRoles.length === 0 && demand.approverRoles.length === 0;
  if (common.length === 0 && !areAdministrators) return { refusal: 'deciders', setBy: [demand.setBy, setBy] };
  const isMore = approvals > demand.approvals;
  return {
    ...demand,
    approvals: Math.max(approvals, demand.approvals),
    approverRoles: common,
    setBy: isMore ? setBy : demand.setBy,
  };
}

/** Whether a text matches a pattern in which * stands for any characters. Linear time: each part is looked for once. */
export function isGlobMatch(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const [head = '', ...rest] = parts;
  const tail = rest.pop();
  if (tail === undefined) return text === head;
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let from = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return from <= end;
}
