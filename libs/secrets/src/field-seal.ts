import type { DataKey } from './data-keys';
import { seal, SealBrokenError, unseal, type Binding } from './sealing';

const WHAT = 'A stored secret';
const FORM = /^v1:([1-9]\d{0,8}):(.+)$/;

/** The location of a secret, bound in as associated data: it cannot be opened for another one. */
export interface FieldBinding {
  readonly organizationId: string;
  /** id of the credential, or of the user for an MFA secret */
  readonly ownerId: string;
  readonly field: string;
}

const bindingOf = (binding: FieldBinding, keyVersion: number): Binding => [
  'field',
  binding.organizationId,
  binding.ownerId,
  binding.field,
  keyVersion,
];

/** @returns `v1:<data key version>:<nonce>:<ciphertext and tag>`, the last two base64url */
export function sealField(dataKey: DataKey, binding: FieldBinding, plainText: string): string {
  const { key, version } = dataKey;
  return `v1:${version}:${seal(key, bindingOf(binding, version), Buffer.from(plainText, 'utf8'))}`;
}

/** @throws SealBrokenError when it was altered, has another binding, or was sealed under another data key */
export function openField(dataKey: DataKey, binding: FieldBinding, sealed: string): string {
  const [, version, parts] = FORM.exec(sealed) ?? [];
  if (parts === undefined || Number(version) !== dataKey.version) throw new SealBrokenError(WHAT);
  return unseal(dataKey.key, bindingOf(binding, dataKey.version), parts, WHAT).toString('utf8');
}
