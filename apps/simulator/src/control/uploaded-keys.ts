import type { Trust } from '../web-identity/trusts';
import { BadInput, isObject } from './input';

type KeySet = NonNullable<Trust['jwks']>;

/** What Google's documentation lets a key of such a file contain. */
const FIELDS = ['kty', 'alg', 'use', 'kid', 'n', 'e', 'x', 'y', 'crv'];
const KEY_TYPES = ['RSA', 'EC'];

const isKeySet = (value: object): value is KeySet =>
  'keys' in value && Array.isArray(value.keys) && value.keys.length > 0 && value.keys.every(isObject);

/**
 * The keys of an issuer as its administrator uploads them.
 * @throws BadInput for keys that Google does not take, private ones among them
 */
export function uploadedKeys(file: object): KeySet {
  if (!isKeySet(file)) throw new BadInput('jwks', 'jwks must have a list of keys');
  for (const key of file.keys) {
    const unknown = Object.keys(key).find((field) => !FIELDS.includes(field));
    if (unknown !== undefined)
      throw new BadInput('jwks', `A key of jwks has ${unknown}; it may have`, FIELDS);
    if (!KEY_TYPES.includes(String(key.kty)))
      throw new BadInput('jwks', 'The kty of a key of jwks must be one of', KEY_TYPES);
  }
  return file;
}
