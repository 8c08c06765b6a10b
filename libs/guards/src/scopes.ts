/** The permissions of API keys. No scope includes another. */
export const SCOPES = [
  'sessions:read',
  'sessions:write',
  'resources:read',
  'audit:read',
  'agent:connect',
] as const;
export type Scope = (typeof SCOPES)[number];

/** What a workload may hold: the other scopes are for administrators and for hosts, and no job is either. */
export const WORKLOAD_SCOPES = [
  'sessions:read',
  'sessions:write',
  'resources:read',
] as const satisfies readonly Scope[];
export type WorkloadScope = (typeof WORKLOAD_SCOPES)[number];

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

/** Agents may connect on every plan; all other automation needs the paid plan. */
export const scopeNeedsPaidPlan = (scope: Scope): boolean => scope !== 'agent:connect';
