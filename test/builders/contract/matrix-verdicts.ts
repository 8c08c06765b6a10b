import type { RoutePolicy, Scope } from '#guards';
import type { Caller, KnownUser } from './matrix-callers';

export type Verdict = 'let in' | '401' | '403' | 'scope';

/** A key never exceeds its user: only admins read the organization's records, whatever the route's policy is. */
const ADMIN_SCOPES: ReadonlySet<Scope> = new Set(['audit:read']);

/** Whether a policy allows a caller: the declared rule, independent of the guard's implementation. */
export function verdictOf(
  policy: RoutePolicy,
  { user, key, isSession, lacksCompanySignIn }: Caller,
): Verdict {
  if (policy.kind === 'public') return 'let in';
  if (!user) return '401';
  if (lacksCompanySignIn) return '403';
  if (isSession) return 'sessionToken' in policy && policy.sessionToken ? 'let in' : '401';
  if (key) {
    const { scope } = policy;
    if (scope === null) return '401';
    if (!key.scopes.includes(scope)) return 'scope';
    const onFreePlan = scope === 'agent:connect' || ('onFreePlan' in policy && policy.onFreePlan);
    if (key.tier === 'FREE' && !onFreePlan) return '403';
    if (ADMIN_SCOPES.has(scope) && !user.isOrgAdmin) return '403';
  }
  if (policy.kind === 'admin') return user.isOrgAdmin ? 'let in' : '403';
  if (policy.kind === 'key') return key ? 'let in' : '403';
  if (policy.kind === 'signed-in') return 'let in';
  return platformVerdict(policy, user);
}

function platformVerdict(policy: RoutePolicy, { platformRole }: KnownUser): Verdict {
  const writes = 'write' in policy && policy.write;
  const allowed = platformRole === 'SUPER_ADMIN' || (platformRole === 'SUPPORT' && !writes);
  return allowed ? 'let in' : '403';
}
