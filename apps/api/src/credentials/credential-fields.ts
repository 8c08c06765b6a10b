import { DriverRegistry, type CredentialShape } from '#drivers';
import type { Provider } from '#rules';
import { badRequest, invalidField } from '../errors/api-error';
import { pastedFields } from './pasted-fields';

const MAX_LENGTH = 20_000;
const EMPTY_MESSAGE = 'must be a string that is not empty';

export interface CredentialFields {
  readonly secrets: Readonly<Record<string, string>>;
  readonly hints: Readonly<Record<string, string>>;
}

/**
 * Validates the fields of a credentialType and drops all others.
 * @throws ApiError 400 naming every invalid field and its constraint, never its value
 */
export function credentialFields(
  provider: Provider,
  credentialType: string,
  given: Readonly<Record<string, unknown>>,
): CredentialFields {
  const shape = shapeOf(provider, credentialType);
  const secrets: Record<string, string> = {};
  const problems: Record<string, string> = {};
  const fields = pastedFields(shape, given);
  for (const field of [...shape.required, ...shape.optional]) {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    const pasted = typeof value === 'string' ? value.trim() : '';
    const isLeftOut = pasted === '' && (value === undefined || value === null || typeof value === 'string');
    if (isLeftOut && shape.optional.includes(field)) continue;
    const text = repaired(shape, field, pasted);
    const problem = problemOf(shape, field, text);
    if (problem === null) secrets[field] = text;
    else problems[`credentialData.${field}`] = problem;
  }
  const messages = Object.entries(problems).map(([field, problem]) => `${field} ${problem}`);
  if (messages.length > 0) throw badRequest(messages.join('; '), problems);
  const hints = shape.hints.flatMap((field) =>
    secrets[field] === undefined ? [] : [[field, secrets[field]]],
  );
  return { secrets, hints: Object.fromEntries(hints) as Record<string, string> };
}

/**
 * Fixed hints, such as a project id, determine the targets of a credential's resources. Changing them would leave the
 * applied rules behind.
 * @throws ApiError 400 when a rotation changes a fixed hint
 */
export function refuseChangedTargets(
  provider: Provider,
  credentialType: string,
  now: CredentialFields['hints'],
  given: CredentialFields['hints'],
): void {
  const { fixedHints = [], account } = shapeOf(provider, credentialType);
  if (account && (account.of(now) === null) !== (account.of(given) === null)) {
    const kept = account.of(now) === null ? 'leave open' : 'name';
    const message = `must ${kept} the ${account.noun}, as until now: create another credential, and give it to the resources`;
    throw invalidField('credentialData', message);
  }
  const changed = fixedHints.find((field) => now[field] !== given[field]);
  if (!changed) return;
  const message = `must stay ${now[changed] ?? 'unset'}: create another credential, and give it to the resources`;
  throw invalidField(`credentialData.${changed}`, message);
}

/** @throws ApiError 400 when it is no scope of the credential's provider */
export function refuseScope(
  { provider, credentialType }: { readonly provider: Provider; readonly credentialType: string },
  scope: string,
): void {
  const { scope: form } = shapeOf(provider, credentialType);
  if (form?.pattern.test(scope)) return;
  const message = form?.words ?? 'must be left out: there is nothing to set up for many accounts at once';
  throw invalidField('scope', message);
}

/** The text itself when it is well-formed, or too long to be looked at. */
function repaired(shape: CredentialShape, field: string, text: string): string {
  const { pattern, repair } = shape.forms[field] ?? {};
  return !repair || text.length > MAX_LENGTH || pattern?.test(text) ? text : repair(text);
}

function problemOf(shape: CredentialShape, field: string, text: string): string | null {
  const form = shape.forms[field];
  if (text === '') return form?.missing ?? EMPTY_MESSAGE;
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (form && !form.pattern.test(text)) return form.words;
  return form?.refusal?.(text) ?? null;
}

/** @throws ApiError 400 when the provider has no such type */
export function shapeOf(provider: Provider, credentialType: string): CredentialShape {
  const types = DriverRegistry.facts(provider).credentialTypes;
  const shape = Object.hasOwn(types, credentialType) ? types[credentialType] : undefined;
  if (shape) return shape;
  throw invalidField('credentialType', `must be one of ${Object.keys(types).join(', ')} for ${provider}`);
}
