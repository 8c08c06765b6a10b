import { createSecretKey, type KeyObject } from 'node:crypto';
import { SealBrokenError } from './sealing';
import { estimatedBits, MIN_SECRET_BITS } from './secret-strength';

const KEY_BYTES = 32;
const FORM = 'a comma-separated list of <version>:<base64 of 32 random bytes>, for example 1:…,2:…';

/** The keys that wrap the organizations' data keys, by version. The highest version wraps new ones. */
export class MasterKeys {
  readonly #keys: ReadonlyMap<number, KeyObject>;
  readonly currentVersion: number;

  private constructor(keys: ReadonlyMap<number, KeyObject>) {
    this.#keys = keys;
    this.currentVersion = Math.max(...keys.keys());
  }

  /**
   * Reads the `MASTER_KEYS` variable.
   * @throws Error naming the variable and its form, never its value
   */
  static parse(text: string): MasterKeys {
    const keys = new Map<number, KeyObject>();
    for (const entry of text.split(',')) {
      const { version, key } = readEntry(entry.trim());
      if (keys.has(version)) throw new Error(`MASTER_KEYS gives version ${version} twice`);
      keys.set(version, key);
    }
    return new MasterKeys(keys);
  }

  /** @throws SealBrokenError when this deployment does not have that version */
  key(version: number): KeyObject {
    const key = this.#keys.get(version);
    if (!key)
      throw new SealBrokenError(`A data key wrapped by master key version ${version}, not in MASTER_KEYS,`);
    return key;
  }
}

function readEntry(entry: string): { version: number; key: KeyObject } {
  const [, version, encoded] = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  if (version === undefined || bytes.length !== KEY_BYTES) throw new Error(`MASTER_KEYS must be ${FORM}`);
  if (estimatedBits(bytes.toString('latin1')) < MIN_SECRET_BITS) {
    throw new Error(
      `MASTER_KEYS holds a key that is not random (version ${version}): make one with openssl rand -base64 32`,
    );
  }
  return { version: Number(version), key: createSecretKey(bytes) };
}
