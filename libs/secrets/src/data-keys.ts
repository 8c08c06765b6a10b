import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { SettingsError } from '#config';
import type { MasterKeys } from './master-keys';
import { seal, SealBrokenError, unseal, type Binding } from './sealing';

const KEY_BYTES = 32;
const WHAT = 'A data key';

/** An organization's data key as it is stored: wrapped by a master key. */
export interface WrappedDataKey {
  readonly version: number;
  readonly masterKeyVersion: number;
  readonly wrappedKey: string;
}

/** An organization's unwrapped data key. Never stored, never printed. */
export class DataKey {
  readonly #key: KeyObject;

  constructor(
    readonly version: number,
    key: KeyObject,
  ) {
    this.#key = key;
  }

  get key(): KeyObject {
    return this.#key;
  }
}

const bindingOf = (organizationId: string, version: number): Binding => ['data-key', organizationId, version];

/** Generates an organization's data key, wrapped by the current master key. */
export function newDataKey(masterKeys: MasterKeys, organizationId: string, version = 1): WrappedDataKey {
  return wrap(masterKeys, organizationId, version, randomBytes(KEY_BYTES));
}

/** @throws SealBrokenError when it belongs to another organization, was altered, or its master key is missing */
export function unwrapDataKey(
  masterKeys: MasterKeys,
  stored: WrappedDataKey & { readonly organizationId: string },
): DataKey {
  const bytes = unwrap(masterKeys, stored);
  const dataKey = new DataKey(stored.version, createSecretKey(bytes));
  bytes.fill(0);
  return dataKey;
}

/** Wraps the same data key by the current master key: data sealed with it is unchanged. */
export function rewrapDataKey(
  masterKeys: MasterKeys,
  stored: WrappedDataKey & { readonly organizationId: string },
): WrappedDataKey {
  return wrap(masterKeys, stored.organizationId, stored.version, unwrap(masterKeys, stored));
}

/**
 * Checks that this deployment can open the stored data keys.
 * @param stored one data key per version of the master key
 * @throws SettingsError that names the first version it cannot open
 */
export function refuseWrongMasterKeys(
  masterKeys: MasterKeys,
  stored: readonly (WrappedDataKey & { readonly organizationId: string })[],
): void {
  for (const dataKey of stored) {
    try {
      unwrapDataKey(masterKeys, dataKey);
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      const version = dataKey.masterKeyVersion;
      throw new SettingsError([
        `MASTER_KEYS must open what is stored: it lacks version ${version}, or has another key under it`,
      ]);
    }
  }
}

function wrap(
  masterKeys: MasterKeys,
  organizationId: string,
  version: number,
  bytes: Buffer,
): WrappedDataKey {
  const masterKeyVersion = masterKeys.currentVersion;
  const { nonce, body } = seal(masterKeys.key(masterKeyVersion), bindingOf(organizationId, version), bytes);
  bytes.fill(0);
  return { version, masterKeyVersion, wrappedKey: `v1:${nonce}:${body}` };
}

function unwrap(
  masterKeys: MasterKeys,
  stored: WrappedDataKey & { readonly organizationId: string },
): Buffer {
  const [form, nonce, body, ...rest] = stored.wrappedKey.split(':');
  if (form !== 'v1' || nonce === undefined || body === undefined || rest.length > 0) {
    throw new SealBrokenError(WHAT);
  }
  const binding = bindingOf(stored.organizationId, stored.version);
  const bytes = unseal(masterKeys.key(stored.masterKeyVersion), binding, { nonce, body }, WHAT);
  if (bytes.length !== KEY_BYTES) throw new SealBrokenError(WHAT);
  return bytes;
}
