import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A sealed value does not open: it was altered, has another binding, or was sealed under another key. Reveals no
 * content.
 */
export class SealBrokenError extends Error {
  constructor(what: string) {
    super(`${what} cannot be decrypted`);
    this.name = 'SealBrokenError';
  }
}

/**
 * The location of a value, used as associated data, so that it opens nowhere else. `kind` separates kinds of values.
 */
export type Binding = readonly [kind: string, ...parts: (string | number)[]];

const boundData = (binding: Binding): Buffer => Buffer.from(JSON.stringify(binding), 'utf8');

/** Encrypts under a fresh random nonce. @returns `<nonce>:<ciphertext and tag>`, both base64url */
export function seal(key: KeyObject, binding: Binding, plain: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundData(binding));
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${nonce.toString('base64url')}:${body.toString('base64url')}`;
}

/**
 * Decrypts a result of `seal` with the same binding.
 * @param what name of the value in the error
 * @throws SealBrokenError
 */
export function unseal(key: KeyObject, binding: Binding, sealed: string, what: string): Buffer {
  const [nonce, body, ...rest] = sealed.split(':').map(fromBase64Url);
  if (nonce?.length !== NONCE_BYTES || !body || body.length < TAG_BYTES || rest.length > 0)
    throw new SealBrokenError(what);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundData(binding));
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    // Node's own error has no more information
    throw new SealBrokenError(what);
  }
}

/** Accepts the canonical encoding only: Node ignores unknown characters and spare bits. */
function fromBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
