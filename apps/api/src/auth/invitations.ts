import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { AccountTokenStore } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { newOpaqueToken } from '#secrets';
import { tooManyRequests } from '../errors';
import { AccountLinks } from './account-links';

const SEVEN_DAYS_SECONDS = 7 * 24 * 60 * 60;
/** Per e-mail address, across all organizations, to prevent flooding an inbox. */
const MAX_PER_ADDRESS_AND_DAY = 3;

export interface Invitation {
  /** for `POST /auth/set-password`; only its hash is stored */
  readonly token: string;
  /** ends with the token */
  readonly url: string;
}

/** Creates invitations for users without a password. */
@Injectable()
export class Invitations {
  constructor(
    private readonly accountTokens: AccountTokenStore,
    private readonly links: AccountLinks,
  ) {}

  /**
   * Creates an invitation that is valid for 7 days and replaces earlier ones. The caller sends it after the commit.
   * @throws ApiError 429 when the address was invited three times within a day, across all organizations
   */
  async invite(
    tx: Tx,
    organizationId: OrganizationId,
    { id: userId, email }: { readonly id: string; readonly email: string },
  ): Promise<Invitation> {
    const seconds = await this.accountTokens.secondsUntilInvitable(tx, email, MAX_PER_ADDRESS_AND_DAY);
    if (seconds !== null) {
      const message = `${email} was invited ${MAX_PER_ADDRESS_AND_DAY} times within a day: try again in ${seconds} s`;
      throw tooManyRequests(message, seconds);
    }
    await this.accountTokens.endInvitations(tx, organizationId, userId);
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const ttlSeconds = SEVEN_DAYS_SECONDS;
    await this.accountTokens.create(tx, { organizationId, userId, purpose: 'INVITE', tokenHash, ttlSeconds });
    return { token, url: this.links.invitation(token) };
  }
}
