import { unwrapDataKey, type WrappedDataKey } from './data-keys';
import { openField, sealField, type FieldBinding } from './field-seal';
import type { MasterKeys } from './master-keys';

type StoredDataKey = WrappedDataKey & { readonly organizationId: string };

const bindingOf = (organizationId: string, userId: string): FieldBinding => ({
  organizationId,
  ownerId: userId,
  field: 'mfa-secret',
});

/** Seals the secret of a user's authenticator, bound to this user. */
export const sealMfaSecret = (
  masterKeys: MasterKeys,
  stored: StoredDataKey,
  userId: string,
  secret: string,
): string => sealField(unwrapDataKey(masterKeys, stored), bindingOf(stored.organizationId, userId), secret);

/** @throws SealBrokenError when it was altered or belongs to another user */
export const openMfaSecret = (
  masterKeys: MasterKeys,
  stored: StoredDataKey,
  userId: string,
  sealed: string,
): string => openField(unwrapDataKey(masterKeys, stored), bindingOf(stored.organizationId, userId), sealed);
