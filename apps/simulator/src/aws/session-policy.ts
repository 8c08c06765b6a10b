interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

/** A policy that limits the session of a role. Conditions are not simulated. */
export interface SessionPolicy {
  readonly Statement: readonly Statement[];
}

/** AWS's limit for the text of a session policy. */
export const MAX_POLICY_LENGTH = 2048;

const isTexts = (value: unknown): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string'));

const isStatement = (value: unknown): value is Statement => {
  if (typeof value !== 'object' || value === null) return false;
  const { Effect, Action, Resource, ...rest } = value as Readonly<Record<string, unknown>>;
  const isKnown = (Effect === 'Allow' || Effect === 'Deny') && isTexts(Action) && isTexts(Resource);
  return isKnown && Object.keys(rest).every((name) => name === 'Sid');
};

/** @returns null when the text is no policy, or has parts that are not simulated */
export function parsePolicy(text: string): SessionPolicy | null {
  try {
    const { Version, Statement } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return Version === '2012-10-17' && Array.isArray(Statement) && Statement.every(isStatement)
      ? ({ Version, Statement } as SessionPolicy)
      : null;
  } catch {
    // AWS says no more than that the document is malformed
    return null;
  }
}

/** Whether a session may make a call: a statement allows it, and none denies it. */
export function allows(policy: SessionPolicy, action: string, resource: string): boolean {
  const effects = policy.Statement.filter(
    ({ Action, Resource }) => matches(Action, action, 'i') && matches(Resource, resource),
  ).map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

const matches = (patterns: string | readonly string[], text: string, flags = ''): boolean =>
  [patterns].flat().some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w-]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.*')}$`, flags).test(text);
  });
