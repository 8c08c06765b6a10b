import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { TenantStores } from '#tenant-store';
import { newOpaqueToken } from '#secrets';
import { AccountLinks, type WaysIn } from './account-links';

const LINK_TTL_SECONDS = 60 * 60;
/** Per account, to prevent flooding an inbox. */
const MAX_LINKS_PER_HOUR = 5;

export interface PasswordResetLink {
  /** for `POST /auth/reset-password`; only its hash is stored */
  readonly token: string;
  /** ends with the token */
  readonly url: string;
}

/** Creates links with which a user sets a new password, once, within an hour. */
@Injectable()
export class PasswordResetLinks {
  constructor(
    private readonly stores: TenantStores,
    private readonly links: AccountLinks,
  ) {}

  /** Where the account signs in, for the mail that has the link. */
  waysIn(organizationSlug: string): WaysIn {
    return this.links.waysIn(organizationSlug);
  }

  /**
   * The caller records it.
   * @param passedOnBy the administrator who gets it; null: it is mailed to the user
   * @returns null when the account got too many within the last hour
   */
  async create(
    tx: Tx,
    { userId, organizationId }: { readonly userId: string; readonly organizationId: string },
    passedOnBy: string | null = null,
  ): Promise<PasswordResetLink | null> {
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const reset = {
      organizationId,
      userId,
      purpose: 'RESET',
      tokenHash,
      ttlSeconds: LINK_TTL_SECONDS,
      passedOnBy,
    } as const;
    const isCreated = await this.stores.accountTokens.createWithinLimit(tx, reset, MAX_LINKS_PER_HOUR);
    return isCreated ? { token, url: this.links.passwordReset(token) } : null;
  }
}
