import { Injectable } from '@nestjs/common';
import {
  AccountTokenStore,
  Database,
  PasswordStore,
  RefreshTokenStore,
  type AccountTokenHolder,
  type AccountTokenPurpose,
  type AuditEventType,
  type Tx,
} from '#entities';
import { StepTokens, type Principal } from '#guards';
import { passwordProblem, type OrganizationId } from '#rules';
import { hashPassword, opaqueTokenHash, verifyPassword } from '#secrets';
import { badRequest, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type {
  ChangeExpiredPasswordDto,
  ChangePasswordDto,
  ResetPasswordDto,
  SetPasswordDto,
} from './dto/password.dto';
import { accountKey, LockOut, signedInKey } from './lock-out';
import { SignInService, type SignInOutcome } from './sign-in.service';
import { TokenService } from './token.service';

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

/** Sets passwords, as the organization's policy asks. Each new one ends what the old one had opened. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly database: Database,
    private readonly passwords: PasswordStore,
    private readonly accountTokens: AccountTokenStore,
    private readonly refreshTokens: RefreshTokenStore,
    private readonly steps: StepTokens,
    private readonly tokens: TokenService,
    private readonly signIn: SignInService,
    private readonly lockOut: LockOut,
    private readonly audit: AccountAudit,
  ) {}

  /** @throws ApiError 400 when the current password is wrong or the new one breaks the policy */
  async change(
    principal: Principal,
    { currentPassword, newPassword }: ChangePasswordDto,
    callerAddress: string | null,
  ): Promise<void> {
    const { userId, organizationId } = principal;
    const attempt = await this.lockOut.attempt(signedInKey(userId));
    const hash = await this.passwords.hash(this.database.autocommit, organizationId, userId);
    if (!(await verifyPassword(currentPassword, hash))) {
      await this.audit.failed('PASSWORD_CHANGED', principal, callerAddress, 'The current password is wrong');
      throw wrongCurrent();
    }
    await this.lockOut.succeeded(attempt);
    await this.refuseBad(organizationId, newPassword, 'newPassword');
    if (newPassword === currentPassword)
      throw refused('newPassword', 'must differ from the current password');
    const passwordHash = await hashPassword(newPassword);
    await this.database.transaction(async (tx) => {
      if (!(await this.passwords.set(tx, organizationId, userId, { passwordHash }))) throw gone();
      await this.tokens.endOthers(tx, principal);
      await this.audit.done(tx, 'PASSWORD_CHANGED', principal, callerAddress);
    });
  }

  /** @throws ApiError 400 when the token is bad, or the password breaks the policy or is the expired one */
  async changeExpired(asked: ChangeExpiredPasswordDto, callerAddress: string | null): Promise<SignInOutcome> {
    const claims = await this.steps.verify('password-change', asked.passwordChangeToken);
    if (!claims) throw badChangeToken();
    const use: TokenUse = {
      token: claims.id,
      purpose: 'PASSWORD_CHANGE',
      eventType: 'PASSWORD_CHANGED',
      refusal: badChangeToken,
      field: 'newPassword',
      password: asked.newPassword,
      callerAddress,
    };
    return this.setByToken(use, this.signsIn(callerAddress, claims.mfaPassed));
  }

  /** @throws ApiError 400 when the token is bad or the password breaks the policy */
  reset(asked: ResetPasswordDto, callerAddress: string | null): Promise<SignInOutcome> {
    return this.setByToken(resetOf(asked, callerAddress), this.signsIn(callerAddress));
  }

  /** As `reset`, but nobody is signed in by it. */
  resetOnly(asked: ResetPasswordDto, callerAddress: string | null): Promise<AccountTokenHolder> {
    return this.setByToken(resetOf(asked, callerAddress), staysOutside);
  }

  /** @throws ApiError 400 when the invitation is bad or the password breaks the policy */
  accept(asked: SetPasswordDto, callerAddress: string | null): Promise<SignInOutcome> {
    return this.setByToken(acceptanceOf(asked, callerAddress), this.signsIn(callerAddress));
  }

  /** As `accept`, but nobody is signed in by it. */
  acceptOnly(asked: SetPasswordDto, callerAddress: string | null): Promise<AccountTokenHolder> {
    return this.setByToken(acceptanceOf(asked, callerAddress), staysOutside);
  }

  private signsIn(callerAddress: string | null, mfaPassed = false): Next<SignInOutcome> {
    return (tx, holder) => this.signIn.goOn(tx, holder, { mfaPassed, callerAddress });
  }

  private async setByToken<T>(use: TokenUse, next: Next<T>): Promise<T> {
    const tokenHash = opaqueTokenHash(use.token);
    const holder = await this.accountTokens.holder(this.database.autocommit, tokenHash, use.purpose);
    if (!holder) throw use.refusal();
    // a refused password leaves the token usable for a better one
    await this.refuseBad(holder.organizationId, use.password, use.field);
    if (use.purpose === 'PASSWORD_CHANGE') await this.refuseSame(holder, use.password);
    const passwordHash = await hashPassword(use.password);
    const outcome = await this.database.transaction(async (tx) => {
      await this.set(tx, holder, tokenHash, passwordHash, use);
      return next(tx, holder);
    });
    // who could read the mail is who the account belongs to
    await this.lockOut.succeeded({ key: accountKey(holder.email) });
    return outcome;
  }

  private async set(
    tx: Tx,
    holder: AccountTokenHolder,
    tokenHash: string,
    passwordHash: string,
    use: TokenUse,
  ): Promise<void> {
    const { organizationId, userId } = holder;
    if (!(await this.accountTokens.use(tx, tokenHash, use.purpose))) throw use.refusal();
    const { name, callerAddress } = use;
    if (!(await this.passwords.set(tx, organizationId, userId, { passwordHash, name }))) throw use.refusal();
    await this.refreshTokens.revokeAllBut(tx, userId, null);
    await this.audit.done(tx, use.eventType, holder, callerAddress);
  }

  private async refuseBad(organization: OrganizationId, password: string, field: string): Promise<void> {
    const policy = await this.passwords.policy(this.database.autocommit, organization);
    const problem = passwordProblem(password, policy);
    if (problem !== null) throw refused(field, problem);
  }

  private async refuseSame({ organizationId, userId }: AccountTokenHolder, password: string): Promise<void> {
    const hash = await this.passwords.hash(this.database.autocommit, organizationId, userId);
    if (await verifyPassword(password, hash))
      throw refused('newPassword', 'must differ from the expired password');
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

const refused = (field: string, problem: string): ApiError =>
  badRequest(`${field} ${problem}`, { [field]: problem });
const gone = (): ApiError => unauthorized('The access token is invalid or expired');
const wrongCurrent = (): ApiError => badRequest('currentPassword is wrong', { currentPassword: 'is wrong' });
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
