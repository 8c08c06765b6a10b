import { Injectable } from '@nestjs/common';
import { Mailer } from '#mail';
import { Tenants } from '#tenant-store';
import { passwordProblem } from '#rules';
import { opaqueTokenHash } from '#secrets';
import { notFound, type ApiError } from '../errors';
import type { PasswordLinkUseDto } from './dto/password-link.dto';

/** What an invitation or a link for a new password is for. */
@Injectable()
export class PasswordLinkService {
  constructor(
    private readonly stores: Tenants,
    private readonly mailer: Mailer,
  ) {}

  /** Does not consume the token. @throws ApiError 404 for one that is unknown, used or expired, or of a deactivated user */
  async find(token: string): Promise<PasswordLinkUseDto> {
    const tx = this.stores.autocommit;
    const holder = await this.stores.accountTokens.holder(tx, opaqueTokenHash(token), ['INVITE', 'RESET']);
    if (!holder || holder.purpose === 'PASSWORD_CHANGE') throw this.unusable();
    const { purpose, organizationId, organizationName, organizationSlug, email, name } = holder;
    const passwordPolicy = await this.stores.passwords.policy(tx, organizationId);
    // the empty password violates every rule, so the message lists the whole policy
    const passwordRules = `The password ${passwordProblem('', passwordPolicy)}.`;
    return { purpose, organizationName, organizationSlug, email, name, passwordPolicy, passwordRules };
  }

  private unusable(): ApiError {
    const mailed =
      this.mailer.delivery === 'nowhere' ? '' : ', or have one mailed with POST /auth/forgot-password';
    return notFound(
      'This link does not work any more: an invitation works once, within 7 days, a link for a new password once, within ' +
        'an hour, and until the password is changed. If you set a password already, sign in with it. Otherwise ask an ' +
        `administrator of your organization for another link${mailed}`,
    );
  }
}
