import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { PasswordStore } from '#tenant-store';
import type { Principal } from '#guards';
import { PasswordHasher } from '#secrets';
import { badRequest, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type { ChangePasswordDto } from './dto/password.dto';
import { LockOut, signedInCounter } from '../lock-out/lock-out';
import { PasswordReplacement } from './password-replacement';
import { PasswordRules, refusedPassword } from './password-rules';

/** Changes the password of who is signed in. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly database: Database,
    private readonly passwords: PasswordStore,
    private readonly rules: PasswordRules,
    private readonly replacement: PasswordReplacement,
    private readonly hasher: PasswordHasher,
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
    const attempt = await this.lockOut.attempt(signedInCounter('password', userId));
    const hash = await this.passwords.hash(this.database.autocommit, organizationId, userId);
    if (!(await this.hasher.verify(currentPassword, hash)) || hash === null) {
      await this.audit.failed('PASSWORD_CHANGED', principal, callerAddress, 'The current password is wrong');
      throw wrongCurrent();
    }
    await this.lockOut.succeeded(attempt);
    await this.rules.refuseBad(organizationId, newPassword, 'newPassword');
    if (newPassword === currentPassword)
      throw refusedPassword('newPassword', 'must differ from the current password');
    const password = { passwordHash: await this.hasher.hash(newPassword), insteadOf: hash };
    const signInId = principal.signIn?.id ?? null;
    const deed = { eventType: 'PASSWORD_CHANGED', callerAddress, signInId } as const;
    const isReplaced = await this.database.transaction((tx) =>
      this.replacement.replace(tx, principal, password, deed),
    );
    if (!isReplaced) throw changedMeanwhile();
  }
}

const changedMeanwhile = (): ApiError =>
  unauthorized('The user was deactivated or has another password by now: sign in again');
const wrongCurrent = (): ApiError => badRequest('currentPassword is wrong', { currentPassword: 'is wrong' });
