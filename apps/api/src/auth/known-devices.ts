import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { TenantStores } from '#tenant-store';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';

/** Devices that have signed in before. A lock caused by others' failed attempts does not apply to them. */
@Injectable()
export class KnownDevices {
  constructor(private readonly stores: TenantStores) {}

  /**
   * Records that a device signed in to an account.
   * @param presented the token it sent; an unknown token is replaced, not adopted
   * @returns the token to send with the next sign-in
   */
  async remember(
    tx: Tx,
    account: { readonly userId: string; readonly organizationId: string },
    presented: string | null,
  ): Promise<string> {
    const { knownDevices } = this.stores;
    const isKnown = presented !== null && (await knownDevices.isKnown(tx, opaqueTokenHash(presented)));
    const token = isKnown ? presented : newOpaqueToken().plainText;
    const { userId, organizationId } = account;
    await knownDevices.remember(tx, { userId, organizationId, tokenHash: opaqueTokenHash(token) });
    return token;
  }
}
