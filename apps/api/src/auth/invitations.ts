import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { INVITED_DAYS, TenantStores } from '#tenant-store';
import type { OrganizationId, Tier } from '#rules';
import { newOpaqueToken } from '#secrets';
import { tooManyRequests } from '../errors';
import { AccountLinks } from './account-links';

const DAY_SECONDS = 24 * 60 * 60;
/** Per mailbox, across all organizations, to prevent flooding an inbox. */
const MAX_PER_ADDRESS_AND_DAY = 3;
/** Mails to strangers, with words that the organization chooses. */
const MAX_PER_DAY: Readonly<Record<Tier, number>> = { FREE: 20, PAID: 200 };

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
    private readonly stores: TenantStores,
    private readonly links: AccountLinks,
  ) {}

  /**
   * Creates an invitation that is valid for 7 days and replaces earlier ones. The caller sends it after the commit.
   * @param mailedBy the plan of an organization whose invitations are mailed; null: the administrator passes them on
   * @throws ApiError 429 when the mailbox was invited three times within a day, across all organizations, or the organization
   *   has invited as many people as its plan allows
   */
  async invite(
    tx: Tx,
    organizationId: OrganizationId,
    { id: userId, email }: { readonly id: string; readonly email: string },
    mailedBy: Tier | null,
  ): Promise<Invitation> {
    await this.refuseMore(tx, 'mailbox', email, MAX_PER_ADDRESS_AND_DAY);
    if (mailedBy !== null) await this.refuseMore(tx, 'organization', organizationId, MAX_PER_DAY[mailedBy]);
    const { accountTokens } = this.stores;
    await accountTokens.endInvitations(tx, organizationId, userId);
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const ttlSeconds = INVITED_DAYS * DAY_SECONDS;
    await accountTokens.create(tx, { organizationId, userId, purpose: 'INVITE', tokenHash, ttlSeconds });
    return { token, url: this.links.invitation(token) };
  }

  private async refuseMore(
    tx: Tx,
    of: 'mailbox' | 'organization',
    value: string,
    most: number,
  ): Promise<void> {
    const seconds = await this.stores.accountTokens.secondsUntilInvitable(tx, of, value, most);
    if (seconds === null) return;
    const done = of === 'mailbox' ? `${value} was invited ${most} times` : `${most} invitations were sent`;
    throw tooManyRequests(`${done} within a day: try again in ${seconds} s`, seconds);
  }
}
