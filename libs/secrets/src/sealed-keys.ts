import { SettingsError } from '#config';
import type { MasterKeys } from './master-keys';
import { seal, SealBrokenError, unseal, type Binding } from './sealing';

/** A key as it is stored: `v1:` and what `seal` makes of it. */
interface StoredKey {
  readonly masterKeyVersion: number;
  readonly sealed: string;
}

/** Seals a key by the current master key, and overwrites its bytes. */
export function sealKey(masterKeys: MasterKeys, binding: Binding, bytes: Buffer): StoredKey {
  const masterKeyVersion = masterKeys.currentVersion;
  const sealed = `v1:${seal(masterKeys.key(masterKeyVersion), binding, bytes)}`;
  bytes.fill(0);
  return { masterKeyVersion, sealed };
}

/** @param what name of the key in the error @throws SealBrokenError also when this deployment lacks its master key */
export function unsealKey(
  masterKeys: MasterKeys,
  binding: Binding,
  { masterKeyVersion, sealed }: StoredKey,
  what: string,
): Buffer {
  if (!sealed.startsWith('v1:')) throw new SealBrokenError(what);
  return unseal(masterKeys.key(masterKeyVersion), binding, sealed.slice(3), what);
}

/**
 * Checks that this deployment can open what is stored.
 * @param what they are, in the error
 * @throws SettingsError that names the first version of the master key with which it cannot
 */
export function refuseUnopened<Stored extends { readonly masterKeyVersion: number }>(
  stored: readonly Stored[],
  open: (one: Stored) => unknown,
  what: string,
): void {
  for (const one of stored) {
    try {
      open(one);
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      throw new SettingsError([
        `MASTER_KEYS must open ${what}: it lacks version ${one.masterKeyVersion}, or has another key under it`,
      ]);
    }
  }
}
