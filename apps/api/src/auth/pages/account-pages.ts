import { Injectable } from '@nestjs/common';
import { type AccountTokenPurpose, Database } from '#entities';
import { type AccountTokenHolder, AccountTokenStore, PasswordStore } from '#tenant-store';
import { passwordProblem } from '#rules';
import { opaqueTokenHash } from '#secrets';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { ApiError, fieldMessages } from '../../errors';
import { Markup, type BrowserPage } from '../../pages/browser-page';
import { ResetPasswordDto, SetPasswordDto } from '../dto/password.dto';
import { PasswordTokensService } from '../password-tokens.service';
import { donePage, formPage, unusablePage, type PageTexts, type Problems } from './account-page-views';

/** What somebody typed into the form. */
export interface PasswordForm {
  readonly name: string;
  readonly password: string;
  readonly repeat: string;
}

/** One of the pages that mail leads to. */
interface PageKind {
  readonly purpose: AccountTokenPurpose;
  readonly words: PageTexts;
  /** the form as the API takes it */
  readonly asked: (token: string, form: PasswordForm) => ResetPasswordDto | SetPasswordDto;
}

export const INVITATION = {
  purpose: 'INVITE',
  words: {
    title: 'Set your password',
    button: 'Accept the invitation',
    done: 'Welcome',
    whenUnusable: Markup.of`<p>An invitation works once, within 7 days. If you set a password already, sign in with it.
      Otherwise ask an administrator of your organization for a new invitation, or have a link mailed
      with <code>POST /api/v1/auth/forgot-password</code>.</p>`,
    asksName: true,
  },
  asked: (inviteToken, { password, name }) =>
    plainToInstance(SetPasswordDto, { inviteToken, password, name }),
} as const satisfies PageKind;

export const PASSWORD_RESET = {
  purpose: 'RESET',
  words: {
    title: 'Set a new password',
    button: 'Set the password',
    done: 'Your new password is set',
    whenUnusable: Markup.of`<p>A link works once, within an hour, and until the password is changed. Have another mailed
      with <code>POST /api/v1/auth/forgot-password</code>, or sign in if you set the password already.</p>`,
    asksName: false,
  },
  asked: (token, { password: newPassword }) => plainToInstance(ResetPasswordDto, { token, newPassword }),
} as const satisfies PageKind;

/** The pages that mail leads to. Looking at one uses nothing up. */
@Injectable()
export class AccountPages {
  constructor(
    private readonly database: Database,
    private readonly accountTokens: AccountTokenStore,
    private readonly passwordStore: PasswordStore,
    private readonly passwords: PasswordTokensService,
  ) {}

  async show(kind: PageKind, token: string): Promise<BrowserPage> {
    const holder = await this.holder(kind, token);
    return holder ? this.form(kind, holder, holder.name) : unusablePage(kind.words);
  }

  /** Sets the password, or says on the form why not. */
  async submit(
    kind: PageKind,
    token: string,
    form: PasswordForm,
    callerAddress: string | null,
  ): Promise<BrowserPage> {
    const holder = await this.holder(kind, token);
    if (!holder) return unusablePage(kind.words);
    const asked = kind.asked(token, form);
    const problems = await problemsOf(asked, form);
    if (Object.keys(problems).length > 0) return this.form(kind, holder, form.name, problems);
    try {
      if (asked instanceof SetPasswordDto) await this.passwords.acceptOnly(asked, callerAddress);
      else await this.passwords.resetOnly(asked, callerAddress);
    } catch (error) {
      const refused = passwordRefusal(error);
      if (refused !== null) return this.form(kind, holder, form.name, refused);
      // used, or its user deactivated, since it was looked at
      if (isRefusal(error)) return unusablePage(kind.words);
      throw error;
    }
    return donePage(kind.words, holder);
  }

  private holder({ purpose }: PageKind, token: string): Promise<AccountTokenHolder | null> {
    return this.accountTokens.holder(this.database.autocommit, opaqueTokenHash(token), purpose);
  }

  private async form(
    { words }: PageKind,
    holder: AccountTokenHolder,
    name: string,
    problems: Problems = {},
  ): Promise<BrowserPage> {
    const policy = await this.passwordStore.policy(this.database.autocommit, holder.organizationId);
    // no password at all breaks every rule there is
    return formPage({ words, holder, policy: passwordProblem('', policy) ?? '', name, problems });
  }
}

/** What can be seen without the organization's policy. */
async function problemsOf(asked: object, { password, repeat }: PasswordForm): Promise<Problems> {
  const messages = fieldMessages(await validate(asked, { stopAtFirstError: true }));
  const differs = password === repeat ? {} : { repeat: 'must be the same as the new password' };
  return { ...onForm(messages), ...differs };
}

/** Problems of the API's fields, under the form's names. */
const onForm = ({ newPassword, ...others }: Problems): Problems =>
  newPassword === undefined ? others : { ...others, password: newPassword };

const BAD_REQUEST = 400;

const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.getStatus() === BAD_REQUEST;

/** Why the organization's policy refused the password; null when something else was refused. */
function passwordRefusal(error: unknown): Problems | null {
  if (!isRefusal(error)) return null;
  const { password } = onForm(error.extras.validationErrors ?? {});
  return password === undefined ? null : { password };
}
