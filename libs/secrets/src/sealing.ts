import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed value does not open: altered, moved to another place, or sealed under another key. Names no content. */
export class SealBrokenError extends Error {
  constructor(what: string) {
    super(`${what} cannot be decrypted`);
    this.name = 'SealBrokenError';
  }
}

/** Nonce and ciphertext with its tag, both base64url. */
export interface SealedParts {
  readonly nonce: string;
  readonly body: string;
}

/** Where a value belongs: bound in, so that it opens nowhere else. The first word tells kinds of values apart. */
export type Binding = readonly [kind: string, ...parts: (string | number)[]];

const boundData = (binding: Binding): Buffer => Buffer.from(JSON.stringify(binding), 'utf8');

/** Encrypts under a fresh random nonce. */
export function seal(key: KeyObject, binding: Binding, plain: Buffer): SealedParts {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundData(binding));
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return { nonce: nonce.toString('base64url'), body: body.toString('base64url') };
}

/**
 * Decrypts what `seal` made for the same binding.
 * @param what words for the value, for the error
 * @throws SealBrokenError
 */
export function unseal(key: KeyObject, binding: Binding, parts: SealedParts, what: string): Buffer {
  const nonce = fromBase64Url(parts.nonce);
  const body = fromBase64Url(parts.body);
  if (nonce?.length !== NONCE_BYTES || !body || body.length < TAG_BYTES) throw new SealBrokenError(what);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundData(binding));
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    // Node's own error says no more than this one
    throw new SealBrokenError(what);
  }
}

/** Only the one canonical spelling: Node skips unknown characters and spare bits, a seal does not. */
function fromBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
