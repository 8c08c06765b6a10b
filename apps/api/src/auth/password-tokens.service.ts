import { Injectable } from '@nestjs/common';
import type { AccountTokenPurpose, AuditEventType, Tx } from '#entities';
import { CompanySignInRequired } from '#guards';
import { type AccountTokenHolder, codeCounter, Tenants } from '#tenant-store';
import { opaqueTokenHash, PasswordHasher } from '#secrets';
import type { HostAddress } from '#rules';
import { badRequest, type ApiError } from '../errors';
import type { ChangeExpiredPasswordDto, ResetPasswordDto, SetPasswordDto } from './dto/password.dto';
import { LockOut } from '../lock-out/lock-out';
import { PasswordReplacement } from './password-replacement';
import { PasswordPolicyService } from './password-policy.service';
import type { SignInClient } from './sign-in-client';
import { SignInService, type SignInOutcome } from './sign-in.service';

/** Setting a password by token. */
interface TokenUse {
  readonly token: string;
  readonly purpose: AccountTokenPurpose;
  readonly eventType: AuditEventType;
  readonly refusal: () => ApiError;
  readonly field: 'newPassword' | 'password';
  readonly password: string;
  readonly name?: string | undefined;
  readonly address: HostAddress | null;
}

/** Sets passwords of users who are not signed in but hold a token. */
@Injectable()
export class PasswordTokensService {
  constructor(
    private readonly stores: Tenants,
    private readonly policy: PasswordPolicyService,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly signIn: SignInService,
    private readonly lockOut: LockOut,
  ) {}

  /** @throws ApiError 400 when the token is invalid, or the password breaks the policy or equals the expired one */
  async changeExpired(dto: ChangeExpiredPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    const claims = await this.signIn.passwordChange(dto.passwordChangeToken);
    if (!claims) throw invalidChangeToken();
    const use: TokenUse = {
      token: claims.id,
      purpose: 'PASSWORD_CHANGE',
      eventType: 'PASSWORD_CHANGED',
      refusal: invalidChangeToken,
      field: 'newPassword',
      password: dto.newPassword,
      address: client.address,
    };
    const { outcome, holder } = await this.setByToken(use, client, claims.mfaPassed);
    if (outcome.step === 'signed-in') {
      await this.lockOut.noteVerifiedPassword(holder);
      if (claims.mfaPassed) await this.lockOut.noteSuccess({ key: codeCounter(holder.userId) });
    }
    return outcome;
  }

  /** @throws ApiError 400 when the token is invalid or the password breaks the policy */
  reset(dto: ResetPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    return this.setByMail(resetOf(dto, client.address), client);
  }

  /** @throws ApiError 400 when the invitation is invalid or the password breaks the policy */
  accept(dto: SetPasswordDto, client: SignInClient): Promise<SignInOutcome> {
    return this.setByMail(acceptanceOf(dto, client.address), client);
  }

  /** Access to the mailbox proves ownership of the account, so failed attempts at the old password are forgotten. */
  private async setByMail(use: TokenUse, client: SignInClient): Promise<SignInOutcome> {
    const { outcome, holder } = await this.setByToken(use, client);
    await this.lockOut.recordVerifiedMailbox(holder);
    return outcome;
  }

  private async setByToken(
    use: TokenUse,
    client: SignInClient,
    mfaPassed = false,
  ): Promise<{ readonly outcome: SignInOutcome; readonly holder: AccountTokenHolder }> {
    const tokenHash = opaqueTokenHash(use.token);
    const holder = await this.stores.accountTokens.holder(this.stores.autocommit, tokenHash, [use.purpose]);
    if (!holder) throw use.refusal();
    const { userId, organizationId } = holder;
    const { autocommit } = this.stores;
    const requirements = await this.stores.accounts.signInRequirements(autocommit, userId, organizationId);
    if (requirements?.companySignInRequired) throw new CompanySignInRequired();
    // before the token is used, so that it stays valid for another attempt
    await this.policy.enforce(holder.organizationId, use.password, use.field);
    if (use.purpose === 'PASSWORD_CHANGE') await this.policy.requireDifferent(holder, use.password);
    const passwordHash = await this.hasher.hash(use.password, { group: holder.userId });
    const outcome = await this.stores.transaction(async (tx) => {
      await this.set(tx, holder, tokenHash, passwordHash, use);
      return this.signIn.advance(tx, holder, {
        mfaPassed,
        client,
        deviceToken: null,
        attemptId: null,
      });
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
    const { name, address, eventType } = use;
    if (!(await this.stores.accountTokens.use(tx, tokenHash, use.purpose))) throw use.refusal();
    const change = { eventType, address, signInId: null };
    // changing an expired password takes it: who knew it knows the new one
    const linkBy = use.purpose === 'PASSWORD_CHANGE' ? undefined : holder.passedOnBy;
    const password = { passwordHash, name, linkBy };
    if (!(await this.replacement.replace(tx, holder, password, change))) throw use.refusal();
  }
}

const resetOf = (dto: ResetPasswordDto, address: HostAddress | null): TokenUse => ({
  token: dto.token,
  purpose: 'RESET',
  eventType: 'PASSWORD_RESET',
  refusal: invalidResetToken,
  field: 'newPassword',
  password: dto.newPassword,
  address,
});

const acceptanceOf = (dto: SetPasswordDto, address: HostAddress | null): TokenUse => ({
  token: dto.inviteToken,
  purpose: 'INVITE',
  eventType: 'INVITATION_ACCEPTED',
  refusal: invalidInviteToken,
  field: 'password',
  password: dto.password,
  name: dto.name,
  address,
});

const invalidChangeToken = (): ApiError =>
  badRequest('passwordChangeToken is invalid, expired or used: sign in again for a new one', {
    passwordChangeToken: 'is invalid, expired or used',
  });
const invalidResetToken = (): ApiError =>
  badRequest('token is invalid, expired or used: ask for a new one with POST /auth/forgot-password', {
    token: 'is invalid, expired or used',
  });
const invalidInviteToken = (): ApiError =>
  badRequest('inviteToken is invalid, expired or used: ask your administrator for a new invitation', {
    inviteToken: 'is invalid, expired or used',
  });
