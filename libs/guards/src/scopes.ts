/** The permissions of API keys. No scope includes another. */
export const SCOPES = [
  'sessions:read',
  'sessions:write',
  'resources:read',
  'audit:read',
  'agent:connect',
] as const;
export type Scope = (typeof SCOPES)[number];

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

/** Agents may connect on every plan; all other automation needs the paid plan. */
export const scopeNeedsPaidPlan = (scope: Scope): boolean => scope !== 'agent:connect';
