import { Injectable } from '@nestjs/common';
import { AccountTokenStore, type Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { newOpaqueToken } from '#secrets';
import { AccountLinks } from './account-links';

const SEVEN_DAYS_SECONDS = 7 * 24 * 60 * 60;

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

  /** Makes an invitation that lasts 7 days. Sending it is the caller's, after the transaction is committed. */
  async invite(tx: Tx, organizationId: OrganizationId, userId: string): Promise<Invitation> {
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const ttlSeconds = SEVEN_DAYS_SECONDS;
    await this.accountTokens.create(tx, { organizationId, userId, purpose: 'INVITE', tokenHash, ttlSeconds });
    return { token, url: this.links.invitation(token) };
  }
}
