import { Injectable } from '@nestjs/common';
import { type AccountTokenPurpose, type AuditEventType, Database, type Tx } from '#entities';
import { type AccountTokenHolder, AccountTokenStore, codeCounter } from '#tenant-store';
import { opaqueTokenHash, PasswordHasher } from '#secrets';
import { badRequest, type ApiError } from '../errors';
import type { ChangeExpiredPasswordDto, ResetPasswordDto, SetPasswordDto } from './dto/password.dto';
import { LockOut } from '../lock-out/lock-out';
import { PasswordReplacement } from './password-replacement';
import { PasswordRules } from './password-rules';
import type { SignInClient } from './sign-in-client';
import { SignInService, type SignInOutcome } from './sign-in.service';

/** A password that a token allows to set. */
interface TokenUse {
  readonly token: string;
  readonly purpose: AccountTokenPurpose;
  readonly eventType: AuditEventType;
  readonly refusal: () => ApiError;
  readonly field: 'newPassword' | 'password';
  readonly password: string;
  readonly name?: string | undefined;
  readonly callerAddress: string | null;
}

/** What a password that was set leads to. */
type Next<T> = (tx: Tx, holder: AccountTokenHolder) => Promise<T>;

/** Sets the passwords of people who are not signed in, but hold a token that allows it. */
@Injectable()
export class PasswordTokensService {
  constructor(
    private readonly database: Database,
    private readonly accountTokens: AccountTokenStore,
    private readonly rules: PasswordRules,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly signIn: SignInService,
    private readonly lockOut: LockOut,
  ) {}

  /** @throws ApiError 400 when the token is bad, or the password breaks the policy or is the expired one */
  async changeExpired(asked: ChangeExpiredPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    const claims = await this.signIn.passwordChange(asked.passwordChangeToken);
    if (!claims) throw badChangeToken();
    const use: TokenUse = {
      token: claims.id,
      purpose: 'PASSWORD_CHANGE',
      eventType: 'PASSWORD_CHANGED',
      refusal: badChangeToken,
      field: 'newPassword',
      password: asked.newPassword,
      callerAddress: client.address,
    };
    const { outcome, holder } = await this.setByToken(use, this.signsIn(client, claims.mfaPassed));
    if (outcome.step === 'signed-in') {
      await this.lockOut.passwordProved(holder);
      if (claims.mfaPassed) await this.lockOut.succeeded({ key: codeCounter(holder.userId) });
    }
    return outcome;
  }

  /** @throws ApiError 400 when the token is bad or the password breaks the policy */
  reset(asked: ResetPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    return this.setByMail(resetOf(asked, client.address), this.signsIn(client));
  }

  /** As `reset`, but nobody is signed in by it. */
  resetOnly(asked: ResetPasswordDto, callerAddress: string | null): Promise<AccountTokenHolder> {
    return this.setByMail(resetOf(asked, callerAddress), staysOutside);
  }

  /** @throws ApiError 400 when the invitation is bad or the password breaks the policy */
  accept(asked: SetPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    return this.setByMail(acceptanceOf(asked, client.address), this.signsIn(client));
  }

  /** As `accept`, but nobody is signed in by it. */
  acceptOnly(asked: SetPasswordDto, callerAddress: string | null): Promise<AccountTokenHolder> {
    return this.setByMail(acceptanceOf(asked, callerAddress), staysOutside);
  }

  private signsIn(client: SignInClient, mfaPassed = false): Next<SignInOutcome> {
    return (tx, holder) => this.signIn.goOn(tx, holder, { mfaPassed, client, deviceToken: null });
  }

  /** Who could read the mail is who the account belongs to: nothing that was guessed at the old password counts. */
  private async setByMail<T>(use: TokenUse, next: Next<T>): Promise<T> {
    const { outcome, holder } = await this.setByToken(use, next);
    await this.lockOut.mailProved(holder);
    return outcome;
  }

  private async setByToken<T>(
    use: TokenUse,
    next: Next<T>,
  ): Promise<{ readonly outcome: T; readonly holder: AccountTokenHolder }> {
    const tokenHash = opaqueTokenHash(use.token);
    const holder = await this.accountTokens.holder(this.database.autocommit, tokenHash, use.purpose);
    if (!holder) throw use.refusal();
    // a refused password leaves the token usable for a better one
    await this.rules.refuseBad(holder.organizationId, use.password, use.field);
    if (use.purpose === 'PASSWORD_CHANGE') await this.rules.refuseSame(holder, use.password);
    const passwordHash = await this.hasher.hash(use.password);
    const outcome = await this.database.transaction(async (tx) => {
      await this.set(tx, holder, tokenHash, passwordHash, use);
      return next(tx, holder);
    });
    return { outcome, holder };
  }

  private async set(
    tx: Tx,
    holder: AccountTokenHolder,
    tokenHash: string,
    passwordHash: string,
    use: TokenUse,
  ): Promise<void> {
    const { name, callerAddress, eventType } = use;
    if (!(await this.accountTokens.use(tx, tokenHash, use.purpose))) throw use.refusal();
    const deed = { eventType, callerAddress, signInId: null };
    if (!(await this.replacement.replace(tx, holder, { passwordHash, name }, deed))) throw use.refusal();
  }
}

const staysOutside: Next<AccountTokenHolder> = (_tx, holder) => Promise.resolve(holder);

const resetOf = (asked: ResetPasswordDto, callerAddress: string | null): TokenUse => ({
  token: asked.token,
  purpose: 'RESET',
  eventType: 'PASSWORD_RESET',
  refusal: badResetToken,
  field: 'newPassword',
  password: asked.newPassword,
  callerAddress,
});

const acceptanceOf = (asked: SetPasswordDto, callerAddress: string | null): TokenUse => ({
  token: asked.inviteToken,
  purpose: 'INVITE',
  eventType: 'INVITATION_ACCEPTED',
  refusal: badInviteToken,
  field: 'password',
  password: asked.password,
  name: asked.name,
  callerAddress,
});

const badChangeToken = (): ApiError =>
  badRequest('passwordChangeToken is invalid, expired or used: sign in again for a new one', {
    passwordChangeToken: 'is invalid, expired or used',
  });
const badResetToken = (): ApiError =>
  badRequest('token is invalid, expired or used: ask for a new one with POST /auth/forgot-password', {
    token: 'is invalid, expired or used',
  });
const badInviteToken = (): ApiError =>
  badRequest('inviteToken is invalid, expired or used: ask your administrator for a new invitation', {
    inviteToken: 'is invalid, expired or used',
  });
