import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Mailer } from '#mail';
import { type LoginCandidate, Tenants } from '#tenant-store';
import type { HostAddress } from '#rules';
import { badRequest } from '../errors';
import { AccountAudit } from './account-audit';
import { passwordResetMail } from './account-mails';
import type { ForgotPasswordDto } from './dto/password.dto';
import { PasswordResetLinks } from './password-reset-links';

const ASK_AN_ADMINISTRATOR =
  'This deployment sends no mail: ask an administrator of your organization for a link to set a new password';

/** Each account with the e-mail gets its own link. Limited, because anyone can register organizations with that e-mail. */
const MAX_ACCOUNTS_MAILED = 10;

/** Mails password-reset links. */
@Injectable()
export class PasswordResetService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly stores: Tenants,
    private readonly links: PasswordResetLinks,
    private readonly mailer: Mailer,
    private readonly audit: AccountAudit,
  ) {}

  /**
   * Takes the same time whether the account exists or not: links are created and sent after it returns.
   * @throws ApiError 400 where no mail is sent
   */
  async request(dto: ForgotPasswordDto, address: HostAddress | null): Promise<void> {
    if (this.mailer.delivery === 'nowhere') throw badRequest(ASK_AN_ADMINISTRATOR);
    const slug = dto.organizationSlug?.toLowerCase() ?? null;
    const candidates = await this.stores.accounts.loginCandidates(this.stores.autocommit, dto.email, slug);
    const active = candidates.filter(({ isActive }) => isActive).slice(0, MAX_ACCOUNTS_MAILED);
    const sending: Promise<void> = this.sendAll(active, address).finally(() => this.pending.delete(sending));
    this.pending.add(sending);
  }

  /** Sends pending mails before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.pending);
  }

  private async sendAll(accounts: readonly LoginCandidate[], address: HostAddress | null): Promise<void> {
    for (const account of accounts) {
      try {
        await this.send(account, address);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.logger.error({ msg: 'A password reset could not be mailed', userId: account.userId, reason });
      }
    }
  }

  private async send(account: LoginCandidate, address: HostAddress | null): Promise<void> {
    const { userId, email: to, organizationName, organizationSlug } = account;
    const created = await this.stores.transaction(async (tx) => {
      const link = await this.links.create(tx, account);
      if (link) await this.audit.recordSuccess(tx, 'PASSWORD_RESET_REQUESTED', account, address);
      return link;
    });
    if (!created) {
      this.logger.warn({ msg: 'A password reset was not mailed: too many within an hour', userId });
      return;
    }
    const { url: link, token } = created;
    const waysIn = this.links.waysIn(organizationSlug);
    await this.mailer.send(
      passwordResetMail({ to, organizationName, organizationSlug, link, token, ...waysIn }),
    );
  }
}
