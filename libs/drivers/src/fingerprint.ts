import { createHash } from 'node:crypto';

/** A cache key that changes with every part and reveals none of them. */
export function fingerprint(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
