import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { KnownDeviceStore } from '#tenant-store';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';

/** Devices that have signed in before: strangers who lock an account do not lock it for them. */
@Injectable()
export class KnownDevices {
  constructor(private readonly devices: KnownDeviceStore) {}

  /**
   * Notes that a device signed in to an account.
   * @param presented what it sent; a token that was never given out is replaced, not adopted
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
