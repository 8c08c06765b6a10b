import { DriverRegistry, type CredentialShape } from '#drivers';
import type { Provider } from '#rules';
import { badRequest } from '../errors/api-error';

const MAX_LENGTH = 20_000;
const MESSAGE = 'must be a string that is not empty';

export interface CredentialFields {
  readonly secrets: Readonly<Record<string, string>>;
  readonly hints: Readonly<Record<string, string>>;
}

/**
 * Picks the fields of a credentialType out of what was sent.
 * @throws ApiError 400 naming every field that is wrong, and what it must be; never what was sent
 */
export function credentialFields(
  provider: Provider,
  credentialType: string,
  given: Readonly<Record<string, unknown>>,
): CredentialFields {
  const shape = shapeOf(provider, credentialType);
  const secrets: Record<string, string> = {};
  const wrong: Record<string, string> = {};
  for (const field of [...shape.required, ...shape.optional]) {
    const value = Object.hasOwn(given, field) ? given[field] : undefined;
    if ((value === undefined || value === null) && shape.optional.includes(field)) continue;
    const text = typeof value === 'string' ? value.trim() : '';
    const words = refusalOf(shape, field, text);
    if (words === null) secrets[field] = text;
    else wrong[`credentialData.${field}`] = words;
  }
  const messages = Object.entries(wrong).map(([field, words]) => `${field} ${words}`);
  if (messages.length > 0) throw badRequest(messages.join('; '), wrong);
  const hints = shape.hints.flatMap((field) =>
    secrets[field] === undefined ? [] : [[field, secrets[field]]],
  );
  return { secrets, hints: Object.fromEntries(hints) as Record<string, string> };
}

/**
 * Resources name targets through their credential: one that suddenly led elsewhere would leave rules behind.
 * @throws ApiError 400 when a rotation changes where the credential leads
 */
export function checkSamePlaces(
  provider: Provider,
  credentialType: string,
  now: CredentialFields['hints'],
  given: CredentialFields['hints'],
): void {
  const { places = [] } = shapeOf(provider, credentialType);
  const moved = places.find((field) => now[field] !== given[field]);
  if (!moved) return;
  const words = `must stay ${now[moved] ?? 'unset'}: create another credential, and give it to the resources`;
  throw badRequest(`credentialData.${moved} ${words}`, { [`credentialData.${moved}`]: words });
}

function refusalOf(shape: CredentialShape, field: string, text: string): string | null {
  if (text === '') return MESSAGE;
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  const form = shape.forms[field];
  if (form && !form.pattern.test(text)) return form.words;
  return form?.refusal?.(text) ?? null;
}

function shapeOf(provider: Provider, credentialType: string): CredentialShape {
  const types = DriverRegistry.facts(provider).credentialTypes;
  const shape = Object.hasOwn(types, credentialType) ? types[credentialType] : undefined;
  if (shape) return shape;
  const words = `must be one of ${Object.keys(types).join(', ')} for ${provider}`;
  throw badRequest(`credentialType ${words}`, { credentialType: words });
}
