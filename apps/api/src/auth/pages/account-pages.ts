import { Injectable } from '@nestjs/common';
import { type AccountTokenPurpose, Database } from '#entities';
import { type AccountTokenHolder, AccountTokenStore, PasswordStore } from '#tenant-store';
import { passwordProblem, type HostAddress } from '#rules';
import { opaqueTokenHash } from '#secrets';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { ApiError, fieldMessages } from '../../errors';
import { Mailer } from '../../mail/mailer';
import { Markup, type BrowserPage } from '../../pages/browser-page';
import { AccountLinks } from '../account-links';
import { ResetPasswordDto, SetPasswordDto } from '../dto/password.dto';
import { PasswordTokensService } from '../password-tokens.service';
import { donePage, formPage, unusablePage, type PageTexts, type Problems } from './account-page-views';

/** The submitted form. */
export interface PasswordForm {
  readonly name: string;
  readonly password: string;
  readonly repeat: string;
}

/** A page that a mailed link opens. */
interface PageKind {
  readonly purpose: AccountTokenPurpose;
  readonly texts: PageTexts;
  /** converts the form to the body of the corresponding API request */
  readonly toDto: (token: string, form: PasswordForm) => ResetPasswordDto | SetPasswordDto;
}

const FORGOT_PASSWORD = Markup.of`<code>POST /api/v1/auth/forgot-password</code>`;

export const INVITATION = {
  purpose: 'INVITE',
  texts: {
    title: 'Set your password',
    button: 'Accept the invitation',
    done: 'Welcome',
    whenUnusable: (sendsMail) =>
      Markup.of`<p>An invitation works once, within 7 days. If you set a password already, sign in with it.
      Otherwise ask an administrator of your organization for a new invitation${
        sendsMail ? Markup.of`, or have a link mailed with ${FORGOT_PASSWORD}` : ''
      }.</p>`,
    asksName: true,
  },
  toDto: (inviteToken, { password, name }) =>
    plainToInstance(SetPasswordDto, { inviteToken, password, name }),
} as const satisfies PageKind;

export const PASSWORD_RESET = {
  purpose: 'RESET',
  texts: {
    title: 'Set a new password',
    button: 'Set the password',
    done: 'Your new password is set',
    whenUnusable: (sendsMail) =>
      Markup.of`<p>A link works once, within an hour, and until the password is changed. ${
        sendsMail
          ? Markup.of`Have another mailed with ${FORGOT_PASSWORD}`
          : 'Ask an administrator of your organization for another'
      }, or sign in if you set the password already.</p>`,
    asksName: false,
  },
  toDto: (token, { password: newPassword }) => plainToInstance(ResetPasswordDto, { token, newPassword }),
} as const satisfies PageKind;

/** The pages that mailed links open. Viewing a page does not consume its token. */
@Injectable()
export class AccountPages {
  constructor(
    private readonly database: Database,
    private readonly accountTokens: AccountTokenStore,
    private readonly passwordStore: PasswordStore,
    private readonly passwords: PasswordTokensService,
    private readonly links: AccountLinks,
    private readonly mailer: Mailer,
  ) {}

  async show(kind: PageKind, token: string): Promise<BrowserPage> {
    const holder = await this.holder(kind, token);
    return holder ? this.form(kind, holder, holder.name) : this.unusable(kind);
  }

  /** Sets the password, or returns the form with the reason of the refusal. */
  async submit(
    kind: PageKind,
    token: string,
    form: PasswordForm,
    address: HostAddress | null,
  ): Promise<BrowserPage> {
    const holder = await this.holder(kind, token);
    if (!holder) return this.unusable(kind);
    const dto = kind.toDto(token, form);
    const problems = await problemsOf(dto, form);
    if (Object.keys(problems).length > 0) return this.form(kind, holder, form.name, problems);
    try {
      if (dto instanceof SetPasswordDto) await this.passwords.acceptOnly(dto, address);
      else await this.passwords.resetOnly(dto, address);
    } catch (error) {
      const refused = passwordRefusal(error);
      if (refused !== null) return this.form(kind, holder, form.name, refused);
      // the token was used or its user deactivated since it was read
      if (isRefusal(error)) return this.unusable(kind);
      throw error;
    }
    return donePage(kind.texts, holder, this.links.signIn(holder.organizationSlug));
  }

  private unusable({ texts }: PageKind): BrowserPage {
    return unusablePage(texts, this.mailer.delivery !== 'nowhere');
  }

  private holder({ purpose }: PageKind, token: string): Promise<AccountTokenHolder | null> {
    return this.accountTokens.holder(this.database.autocommit, opaqueTokenHash(token), purpose);
  }

  private async form(
    { texts }: PageKind,
    holder: AccountTokenHolder,
    name: string,
    problems: Problems = {},
  ): Promise<BrowserPage> {
    const policy = await this.passwordStore.policy(this.database.autocommit, holder.organizationId);
    // the empty password violates every rule, so the message lists the whole policy
    return formPage({ texts, holder, policy: passwordProblem('', policy) ?? '', name, problems });
  }
}

/** Validation that does not need the organization's policy. */
async function problemsOf(dto: object, { password, repeat }: PasswordForm): Promise<Problems> {
  const messages = fieldMessages(await validate(dto, { stopAtFirstError: true }));
  const differs = password === repeat ? {} : { repeat: 'must be the same as the new password' };
  return { ...toFormFields(messages), ...differs };
}

/** Maps the API's field names to the form's. */
const toFormFields = ({ newPassword, ...others }: Problems): Problems =>
  newPassword === undefined ? others : { ...others, password: newPassword };

const BAD_REQUEST = 400;

const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.getStatus() === BAD_REQUEST;

/** The organization's policy violations; null when something else was refused. */
function passwordRefusal(error: unknown): Problems | null {
  if (!isRefusal(error)) return null;
  const { password } = toFormFields(error.extras.validationErrors ?? {});
  return password === undefined ? null : { password };
}
