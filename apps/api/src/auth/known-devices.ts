import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { KnownDeviceStore } from '#tenant-store';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';

/** Devices that have signed in before. A lock caused by others' failed attempts does not apply to them. */
@Injectable()
export class KnownDevices {
  constructor(private readonly devices: KnownDeviceStore) {}

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
    const isKnown = presented !== null && (await this.devices.isKnown(tx, opaqueTokenHash(presented)));
    const token = isKnown ? presented : newOpaqueToken().plainText;
    const { userId, organizationId } = account;
    await this.devices.remember(tx, { userId, organizationId, tokenHash: opaqueTokenHash(token) });
    return token;
  }
}
