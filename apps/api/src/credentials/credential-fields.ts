import { DriverRegistry, type CredentialShape } from '#drivers';
import type { Provider } from '#rules';
import { badRequest } from '../errors/api-error';

const LONGEST = 20_000;

export interface CredentialFields {
  readonly secrets: Readonly<Record<string, string>>;
  readonly hints: Readonly<Record<string, string>>;
}

/**
 * Picks the fields of a credentialType out of what was sent.
 * @throws ApiError 400 naming the field and what it must be
 */
export function credentialFields(
  provider: Provider,
  credentialType: string,
  given: Readonly<Record<string, unknown>>,
): CredentialFields {
  const shape = shapeOf(provider, credentialType);
  const secrets: Record<string, string> = {};
  for (const field of [...shape.required, ...shape.optional]) {
    const value = given[field];
    if (value === undefined && shape.optional.includes(field)) continue;
    if (typeof value !== 'string' || value.trim() === '' || value.length > LONGEST) {
      throw invalid(`credentialData.${field}`, 'must be a string that is not empty');
    }
    secrets[field] = value.trim();
  }
  const hints = Object.fromEntries(shape.hints.map((field) => [field, secrets[field] ?? '']));
  return { secrets, hints };
}

function shapeOf(provider: Provider, credentialType: string): CredentialShape {
  const facts = DriverRegistry.facts(provider);
  if (!facts)
    throw invalid(
      'provider',
      `is not served here: this deployment drives ${DriverRegistry.providers.join(', ')}`,
    );
  const shape = facts.credentialTypes[credentialType];
  if (!shape)
    throw invalid(
      'credentialType',
      `must be one of ${Object.keys(facts.credentialTypes).join(', ')} for ${provider}`,
    );
  return shape;
}

const invalid = (field: string, words: string): Error => badRequest(`${field} ${words}`, { [field]: words });
