import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { MasterKeys } from './master-keys';
import { refuseUnopened, sealKey, unsealKey } from './sealed-keys';
import { SealBrokenError, type Binding } from './sealing';

const KEY_BYTES = 32;
const WHAT = 'A data key';

/** An organization's data key as it is stored: wrapped by a master key. */
export interface WrappedDataKey {
  readonly version: number;
  readonly masterKeyVersion: number;
  readonly wrappedKey: string;
}

/** A data key with the organization that it is bound to. */
export type StoredDataKey = WrappedDataKey & { readonly organizationId: string };

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
export function unwrapDataKey(masterKeys: MasterKeys, stored: StoredDataKey): DataKey {
  const bytes = unwrap(masterKeys, stored);
  const dataKey = new DataKey(stored.version, createSecretKey(bytes));
  bytes.fill(0);
  return dataKey;
}

/** Wraps the same data key by the current master key: data sealed with it is unchanged. */
export const rewrapDataKey = (masterKeys: MasterKeys, stored: StoredDataKey): WrappedDataKey =>
  wrap(masterKeys, stored.organizationId, stored.version, unwrap(masterKeys, stored));

/** @param stored one data key per version of the master key @throws SettingsError as `refuseUnopened` */
export const refuseWrongMasterKeys = (masterKeys: MasterKeys, stored: readonly StoredDataKey[]): void =>
  refuseUnopened(stored, (dataKey) => unwrapDataKey(masterKeys, dataKey), 'what is stored');

function wrap(
  masterKeys: MasterKeys,
  organizationId: string,
  version: number,
  bytes: Buffer,
): WrappedDataKey {
  const { sealed, masterKeyVersion } = sealKey(masterKeys, bindingOf(organizationId, version), bytes);
  return { version, masterKeyVersion, wrappedKey: sealed };
}

function unwrap(masterKeys: MasterKeys, stored: StoredDataKey): Buffer {
  const { organizationId, version, masterKeyVersion, wrappedKey: sealed } = stored;
  const binding = bindingOf(organizationId, version);
  const bytes = unsealKey(masterKeys, binding, { masterKeyVersion, sealed }, WHAT);
  if (bytes.length !== KEY_BYTES) throw new SealBrokenError(WHAT);
  return bytes;
}
