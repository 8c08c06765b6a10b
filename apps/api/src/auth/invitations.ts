import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { AccountTokenStore } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { newOpaqueToken } from '#secrets';
import { tooManyRequests } from '../errors';
import { AccountLinks } from './account-links';

const SEVEN_DAYS_SECONDS = 7 * 24 * 60 * 60;
/** To one e-mail address, of all organizations together: nobody's inbox is ours to fill. */
const MAX_PER_ADDRESS_A_DAY = 3;

export interface Invitation {
  /** what `POST /auth/set-password` takes; stored hashed only, so this is the one time it is seen */
  readonly token: string;
  /** ends in the token */
  readonly url: string;
}

/** Invites a user who has no password yet to set one. */
@Injectable()
export class Invitations {
  constructor(
    private readonly accountTokens: AccountTokenStore,
    private readonly links: AccountLinks,
  ) {}

  /**
   * Makes an invitation that lasts 7 days, in place of earlier ones. Sending it is the caller's, after the transaction
   * is committed.
   * @throws ApiError 429 when the address was invited three times within a day, by whatever organization
   */
  async invite(
    tx: Tx,
    organizationId: OrganizationId,
    { id: userId, email }: { readonly id: string; readonly email: string },
  ): Promise<Invitation> {
    const seconds = await this.accountTokens.secondsUntilInvitable(tx, email, MAX_PER_ADDRESS_A_DAY);
    if (seconds !== null) {
      const words = `${email} was invited ${MAX_PER_ADDRESS_A_DAY} times within a day: try again in ${seconds} s`;
      throw tooManyRequests(words, seconds);
    }
    await this.accountTokens.endInvitations(tx, organizationId, userId);
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const ttlSeconds = SEVEN_DAYS_SECONDS;
    await this.accountTokens.create(tx, { organizationId, userId, purpose: 'INVITE', tokenHash, ttlSeconds });
    return { token, url: this.links.invitation(token) };
  }
}
