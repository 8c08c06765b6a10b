import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Database } from '#entities';
import { AccountStore, AccountTokenStore, type LoginCandidate } from '#tenant-store';
import { newOpaqueToken } from '#secrets';
import { Mailer } from '../mail/mailer';
import { AccountAudit } from './account-audit';
import { AccountLinks } from './account-links';
import { passwordResetMail } from './account-mails';
import type { ForgotPasswordDto } from './dto/password.dto';

const LINK_SECONDS = 60 * 60;
/** Nobody needs more, and somebody else's inbox is soon full. */
const MAX_LINKS_PER_HOUR = 5;

/** Each account that knows the e-mail has a link of its own; anybody may register organizations with somebody else's. */
const MAX_ACCOUNTS_MAILED = 10;

/** Sends links to who forgot a password. */
@Injectable()
export class PasswordResetService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly accountTokens: AccountTokenStore,
    private readonly links: AccountLinks,
    private readonly mailer: Mailer,
    private readonly audit: AccountAudit,
  ) {}

  /** Returns in the same time whether there is such an account or not: links are made and sent afterwards. */
  async request(asked: ForgotPasswordDto, callerAddress: string | null): Promise<void> {
    const slug = asked.organizationSlug?.toLowerCase() ?? null;
    const candidates = await this.accounts.loginCandidates(this.database.autocommit, asked.email, slug);
    const active = candidates.filter(({ isActive }) => isActive).slice(0, MAX_ACCOUNTS_MAILED);
    const sending: Promise<void> = this.sendAll(active, callerAddress).finally(() =>
      this.underWay.delete(sending),
    );
    this.underWay.add(sending);
  }

  /** What was promised goes out before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async sendAll(accounts: readonly LoginCandidate[], callerAddress: string | null): Promise<void> {
    for (const account of accounts) {
      try {
        await this.send(account, callerAddress);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.logger.error({ msg: 'A password reset could not be mailed', userId: account.userId, reason });
      }
    }
  }

  private async send(account: LoginCandidate, callerAddress: string | null): Promise<void> {
    const { userId, organizationId, email: to, organizationName, organizationSlug } = account;
    const { plainText: token, hash: tokenHash } = newOpaqueToken();
    const reset = { organizationId, userId, purpose: 'RESET', tokenHash, ttlSeconds: LINK_SECONDS } as const;
    const made = await this.database.transaction(async (tx) => {
      if (!(await this.accountTokens.createUnlessMany(tx, reset, MAX_LINKS_PER_HOUR))) return false;
      await this.audit.done(tx, 'PASSWORD_RESET_REQUESTED', account, callerAddress);
      return true;
    });
    if (!made) {
      this.logger.warn({ msg: 'A password reset was not mailed: too many within an hour', userId });
      return;
    }
    const link = this.links.passwordReset(token);
    await this.mailer.send(passwordResetMail({ to, organizationName, organizationSlug, link, token }));
  }
}
