import type { OidcConditions } from '#tenant-store';

export const MAX_CLAIMS = 20;
export const MAX_VALUES = 20;
export const MAX_VALUE_LENGTH = 500;

const CLAIM_NAME = /^[A-Za-z][\w:./-]{0,99}$/;
/** Compared with exact values for every trust. */
const ALWAYS_CHECKED: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);
const WORKFLOW_CLAIMS: ReadonlySet<string> = new Set(['workflow_ref', 'job_workflow_ref']);

const mayEndWithStar = (claim: string): boolean => claim === 'ref' || WORKFLOW_CLAIMS.has(claim);

/** Why conditions are malformed, follows the name of the field; null: they are well-formed. */
export function conditionsRefusal(conditions: unknown): string | null {
  if (typeof conditions !== 'object' || conditions === null || Array.isArray(conditions))
    return 'must be an object: claim, and the list of its allowed values';
  const claims = Object.entries(conditions);
  if (claims.length === 0) return 'must name at least one claim';
  if (claims.length > MAX_CLAIMS) return `must name at most ${MAX_CLAIMS} claims`;
  for (const [claim, values] of claims) {
    const refusal = claimRefusal(claim) ?? valuesRefusal(claim, values);
    if (refusal !== null) return refusal;
  }
  return null;
}

function claimRefusal(claim: string): string | null {
  if (!CLAIM_NAME.test(claim)) return 'must name claims of 1 to 100 letters, digits and _ : . / -';
  return ALWAYS_CHECKED.has(claim) ? `must not name ${claim}: it is always checked` : null;
}

function valuesRefusal(claim: string, values: unknown): string | null {
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_VALUES)
    return `must have a list of 1 to ${MAX_VALUES} texts for ${claim}`;
  for (const value of values as unknown[]) {
    if (typeof value !== 'string' || value === '' || value.length > MAX_VALUE_LENGTH)
      return `must have texts of 1 to ${MAX_VALUE_LENGTH} characters for ${claim}`;
    const refusal = starRefusal(claim, value);
    if (refusal !== null) return refusal;
  }
  return null;
}

function starRefusal(claim: string, value: string): string | null {
  if (!value.includes('*')) return null;
  if (!mayEndWithStar(claim))
    return `must have exact texts for ${claim}: * is possible at the end of ref, workflow_ref and job_workflow_ref only`;
  const before = value.slice(0, -1);
  if (!value.endsWith('*') || before.includes('*')) return `must have * at the end only, for ${claim}`;
  // a name that merely begins the same is another owner's
  if (WORKFLOW_CLAIMS.has(claim) && !before.includes('@') && !before.endsWith('/'))
    return `must have * after a / or after the @ for ${claim}`;
  return before === '' ? `must have a text before the * for ${claim}` : null;
}

/** Whether a claim of a token has one of the allowed values. Lists and objects never do. */
export function isAllowed(claim: string, allowed: readonly string[], found: unknown): boolean {
  const text = scalarText(found);
  if (text === null) return false;
  return allowed.some((value) =>
    value.endsWith('*') && mayEndWithStar(claim) ? text.startsWith(value.slice(0, -1)) : text === value,
  );
}

/** @returns null for what has no exact text: numbers beyond 2^53 lose digits when they are parsed */
function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return null;
}

/** A claim of a token, absent for names that only its prototype has. */
export const claimOf = (claims: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

/** Whether two lists of conditions are the same text. */
export const sameConditions = (one: OidcConditions, other: OidcConditions): boolean =>
  canonical(one) === canonical(other);

const canonical = (conditions: OidcConditions): string =>
  JSON.stringify(Object.entries(conditions).toSorted(([one], [other]) => (one < other ? -1 : 1)));
