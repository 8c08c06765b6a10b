import { createHash, createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { MasterKeys } from './master-keys';
import { refuseUnopened, sealKey, unsealKey } from './sealed-keys';
import type { Binding } from './sealing';

const generate = promisify(generateKeyPair);
/** Entra and GCP accept RS256 with keys of 2048 bits; longer ones make every token larger. */
const MODULUS_BITS = 2048;
const WHAT = 'An identity key';

/** A public key as clouds fetch it (RFC 7517). Without a certificate: GCP refuses keys that carry one. */
export interface PublicIdentityKey {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  /** the key's thumbprint (RFC 7638) */
  readonly kid: string;
  /** base64url */
  readonly n: string;
  /** base64url */
  readonly e: string;
}

/** A private key as it is stored: sealed by a master key. */
export interface SealedIdentityKey {
  readonly kid: string;
  readonly masterKeyVersion: number;
  readonly sealedKey: string;
}

const bindingOf = (kid: string): Binding => ['identity-key', kid];

/** Generates a key that signs tokens about credentials, sealed by the current master key. Takes some tenths of a second. */
export async function newIdentityKey(
  masterKeys: MasterKeys,
): Promise<SealedIdentityKey & { readonly publicKey: PublicIdentityKey }> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  const { n, e } = publicKey.export({ format: 'jwk' }) as { n: string; e: string };
  const kid = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');
  const plain = privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    ...sealed(masterKeys, kid, plain),
    publicKey: { kty: 'RSA', use: 'sig', alg: 'RS256', kid, n, e },
  };
}

/** @throws SealBrokenError when it was altered, belongs to another id, or its master key is missing */
export function openIdentityKey(masterKeys: MasterKeys, stored: SealedIdentityKey): KeyObject {
  const plain = opened(masterKeys, stored);
  const key = createPrivateKey({ key: plain, type: 'pkcs8', format: 'der' });
  plain.fill(0);
  return key;
}

/** Seals the same key by the current master key. */
export const resealIdentityKey = (masterKeys: MasterKeys, stored: SealedIdentityKey): SealedIdentityKey =>
  sealed(masterKeys, stored.kid, opened(masterKeys, stored));

/** @throws SettingsError when this deployment cannot open one of the stored keys */
export const refuseUnknownIdentityKeys = (
  masterKeys: MasterKeys,
  stored: readonly SealedIdentityKey[],
): void => refuseUnopened(stored, (key) => opened(masterKeys, key).fill(0), 'the stored identity keys');

function sealed(masterKeys: MasterKeys, kid: string, plain: Buffer): SealedIdentityKey {
  const { masterKeyVersion, sealed: sealedKey } = sealKey(masterKeys, bindingOf(kid), plain);
  return { kid, masterKeyVersion, sealedKey };
}

const opened = (masterKeys: MasterKeys, { kid, masterKeyVersion, sealedKey }: SealedIdentityKey): Buffer =>
  unsealKey(masterKeys, bindingOf(kid), { masterKeyVersion, sealed: sealedKey }, WHAT);
