import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import {
  AccountStore,
  type LoginCandidate,
  passwordCounter,
  PasswordStore,
  type UserProfileRow,
} from '#tenant-store';
import type { Principal } from '#guards';
import { PasswordHasher } from '#secrets';
import { badRequest, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type { LoginDto } from './dto/credentials.dto';
import { LockOut, type Attempt } from '../lock-out/lock-out';
import type { SignInClient } from './sign-in-client';
import { SignInService, wrongCredentials, type SignInOutcome } from './sign-in.service';

/**
 * How many passwords are compared when no organization is named, however many know the e-mail: the time of the answer
 * says nothing of them. The accounts that are there longest are tried, for anybody may register an organization with
 * somebody else's e-mail.
 */
export const MAX_ACCOUNTS_TRIED = 3;

/** What may be compared, and what it is counted as. */
interface LoginAttempt {
  readonly attempt: Attempt;
  readonly candidates: readonly LoginCandidate[];
  readonly comparisons: number;
  /** counted for several accounts at once: one that fits does not speak for the others */
  readonly isShared: boolean;
  readonly isOfDevice: boolean;
}

/** Signs people in who know a password. */
@Injectable()
export class AuthService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly passwords: PasswordStore,
    private readonly hasher: PasswordHasher,
    private readonly audit: AccountAudit,
    private readonly lockOut: LockOut,
    private readonly signIn: SignInService,
  ) {}

  /**
   * @throws ApiError 401, the same for an unknown e-mail, a wrong password and an inactive user, after the same work;
   *   400 when the password fits several organizations; 429 while the account is locked
   */
  async login(asked: LoginDto, client: SignInClient): Promise<SignInOutcome> {
    const login = await this.begin(asked);
    const account = await this.accountOf(asked.password, login, client.address);
    const deviceToken = asked.deviceToken ?? null;
    const outcome = await this.database.transaction((tx) =>
      this.signIn.goOn(tx, account, { mfaPassed: false, client, deviceToken }),
    );
    await this.settle(login, account, outcome);
    await this.renewHash(account, asked.password);
    return outcome;
  }

  /** A hash of another cost would tell by the time of a wrong password that there is an account. */
  private async renewHash(
    { organizationId, userId, passwordHash }: LoginCandidate,
    password: string,
  ): Promise<void> {
    if (passwordHash === null || !this.hasher.isOutdated(passwordHash)) return;
    const renewed = await this.hasher.hash(password);
    await this.passwords.renewHash(this.database.autocommit, organizationId, userId, renewed, passwordHash);
  }

  /** What `GET /auth/me` shows beside the principal. */
  async profile(principal: Principal): Promise<UserProfileRow> {
    const { userId, organizationId } = principal;
    const profile = await this.accounts.profileOfUser(this.database.autocommit, userId, organizationId);
    // deleted between the guard's look and this one
    if (!profile) throw unauthorized('The access token is invalid or expired');
    return profile;
  }

  /** @throws ApiError 429 while the account is locked, unless a device of its own asks */
  private async begin({ email, organizationSlug, deviceToken }: LoginDto): Promise<LoginAttempt> {
    const slug = organizationSlug?.toLowerCase() ?? null;
    const counter = passwordCounter(email, slug);
    const attempt = await this.lockOut.attemptUnlessLocked(counter);
    const known = await this.accounts.loginCandidates(this.database.autocommit, email, slug);
    if (attempt) {
      return {
        attempt,
        candidates: known.slice(0, MAX_ACCOUNTS_TRIED),
        comparisons: slug === null ? MAX_ACCOUNTS_TRIED : 1,
        isShared: known.length > 1,
        isOfDevice: false,
      };
    }
    const userIds = known.map(({ userId }) => userId);
    const ofDevice = await this.lockOut.attemptOfDevice(counter, 'password', deviceToken ?? null, userIds);
    const candidates = known.filter(({ userId }) => userId === ofDevice.userId);
    return { attempt: ofDevice, candidates, comparisons: 1, isShared: false, isOfDevice: true };
  }

  private async accountOf(
    password: string,
    { attempt, candidates, comparisons }: LoginAttempt,
    callerAddress: string | null,
  ): Promise<LoginCandidate> {
    const right = await Promise.all(
      Array.from({ length: comparisons }, (_, index) =>
        this.hasher.verify(password, candidates[index]?.passwordHash ?? null),
      ),
    );
    const fitting = candidates.filter(({ isActive }, index) => isActive && right[index]);
    if (fitting.length > 1) throw organizationNeeded(fitting);
    const [account] = fitting;
    if (account) return account;
    if (candidates.length === 0) await this.lockOut.failedAtNobody(attempt);
    await Promise.all(
      candidates.map((candidate, index) =>
        this.recordFailure(candidate, right[index] ?? false, attempt, callerAddress),
      ),
    );
    throw wrongCredentials();
  }

  private async settle(
    { attempt, isShared, isOfDevice }: LoginAttempt,
    { email, organizationSlug }: LoginCandidate,
    outcome: SignInOutcome,
  ): Promise<void> {
    // who knows the password only must not start counting anew with each code they guess
    if (outcome.step !== 'signed-in') return isShared ? undefined : this.lockOut.takeBack(attempt);
    // that the owner's device signs in says nothing of the strangers who locked the account
    if (isOfDevice) return this.lockOut.succeeded(attempt);
    return this.lockOut.passwordProved({ email, organizationSlug });
  }

  private async recordFailure(
    candidate: LoginCandidate,
    isRight: boolean,
    attempt: Attempt,
    callerAddress: string | null,
  ): Promise<void> {
    const reason = isRight ? 'The user is not active' : 'The password is wrong';
    await this.audit.failed('USER_LOGIN', candidate, callerAddress, reason);
    if (attempt.locks) await this.audit.lockedOut(candidate, callerAddress, attempt.number);
  }
}

/** @param fitting those whose password was right: no other organization is told of */
function organizationNeeded(fitting: readonly LoginCandidate[]): ApiError {
  const words = `must be one of ${fitting.map(({ organizationSlug }) => organizationSlug).join(', ')}`;
  return badRequest(`Several organizations know this account: organizationSlug ${words}`, {
    organizationSlug: words,
  });
}
