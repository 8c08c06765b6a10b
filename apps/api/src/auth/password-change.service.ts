import { Injectable } from '@nestjs/common';
import { Tenants } from '#tenant-store';
import { PasswordHasher } from '#secrets';
import { invalidField, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type { ChangePasswordDto } from './dto/password.dto';
import type { Actor } from '../http/actor';
import { LockOut, signedInCounter } from '../lock-out/lock-out';
import { PasswordReplacement } from './password-replacement';
import { PasswordPolicyService } from './password-policy.service';

/** Changes the password of the signed-in user. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly stores: Tenants,
    private readonly policy: PasswordPolicyService,
    private readonly replacement: PasswordReplacement,
    private readonly hasher: PasswordHasher,
    private readonly lockOut: LockOut,
    private readonly audit: AccountAudit,
  ) {}

  /** @throws ApiError 400 when the current password is wrong or the new one breaks the policy */
  async change(actor: Actor, { currentPassword, newPassword }: ChangePasswordDto): Promise<void> {
    const { principal } = actor;
    const { userId, organizationId } = principal;
    const client = { group: userId };
    this.hasher.refuseIfBusy(client);
    const attempt = await this.lockOut.attempt(signedInCounter('password', userId));
    const hash = await this.stores.passwords.hash(this.stores.autocommit, organizationId, userId);
    const isRight = await this.lockOut.compare(attempt, this.hasher.verify(currentPassword, hash, client));
    if (!isRight || hash === null) {
      await this.audit.recordFailure(
        'PASSWORD_CHANGED',
        principal,
        actor.address,
        'The current password is wrong',
      );
      throw wrongCurrentPassword();
    }
    await this.lockOut.noteSuccess(attempt);
    await this.policy.enforce(organizationId, newPassword, 'newPassword');
    if (newPassword.normalize('NFC') === currentPassword.normalize('NFC'))
      throw invalidField('newPassword', 'must differ from the current password');
    const password = { passwordHash: await this.hasher.hash(newPassword, client), insteadOf: hash };
    const signInId = principal.signIn?.id ?? null;
    const change = { eventType: 'PASSWORD_CHANGED', address: actor.address, signInId } as const;
    const isReplaced = await this.stores.transaction((tx) =>
      this.replacement.replace(tx, principal, password, change),
    );
    if (!isReplaced) throw changedConcurrently();
  }
}

const changedConcurrently = (): ApiError =>
  unauthorized('The user was deactivated or has another password by now: sign in again');
const wrongCurrentPassword = (): ApiError => invalidField('currentPassword', 'is wrong');
