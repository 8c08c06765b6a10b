import { Injectable } from '@nestjs/common';
import { AccountStore, Database, type LoginCandidate, type UserProfileRow } from '#entities';
import type { Principal } from '#guards';
import { verifyPassword } from '#secrets';
import { badRequest, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type { LoginDto } from './dto/credentials.dto';
import { accountKey, LockOut, type Attempt } from './lock-out';
import { SignInService, wrongCredentials, type SignInOutcome } from './sign-in.service';

/** Each costs a password comparison; anybody may register organizations with somebody else's e-mail. */
export const MOST_ACCOUNTS_TRIED = 10;

/** Signs people in who know a password. */
@Injectable()
export class AuthService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly audit: AccountAudit,
    private readonly lockOut: LockOut,
    private readonly signIn: SignInService,
  ) {}

  /**
   * @throws ApiError 401, the same for an unknown e-mail, a wrong password and an inactive user, after the same work;
   *   400 when the organization must be named; 429 while the account is locked
   */
  async login(asked: LoginDto, callerAddress: string | null): Promise<SignInOutcome> {
    const attempt = await this.lockOut.attempt(accountKey(asked.email));
    const account = await this.accountOf(asked, attempt, callerAddress);
    const outcome = await this.database.transaction((tx) =>
      this.signIn.goOn(tx, account, { mfaPassed: false, callerAddress }),
    );
    // who knows the password only must not start counting anew with each code they guess
    if (outcome.step === 'signed-in') await this.lockOut.succeeded(attempt);
    else await this.lockOut.takeBack(attempt);
    return outcome;
  }

  /** What `GET /auth/me` shows beside the principal. */
  async profile(principal: Principal): Promise<UserProfileRow> {
    const { userId, organizationId } = principal;
    const profile = await this.accounts.profileOfUser(this.database.autocommit, userId, organizationId);
    // deleted between the guard's look and this one
    if (!profile) throw unauthorized('The access token is invalid or expired');
    return profile;
  }

  private async accountOf(
    { email, password, organizationSlug }: LoginDto,
    attempt: Attempt,
    callerAddress: string | null,
  ): Promise<LoginCandidate> {
    const slug = organizationSlug?.toLowerCase() ?? null;
    const candidates = await this.accounts.loginCandidates(this.database.autocommit, email, slug);
    if (candidates.length > MOST_ACCOUNTS_TRIED) return this.askForOrganization(attempt, []);
    const tried = candidates.length > 0 ? candidates : [{ passwordHash: null }];
    const right = await Promise.all(tried.map(({ passwordHash }) => verifyPassword(password, passwordHash)));
    const fitting = candidates.filter(({ isActive }, index) => isActive && right[index]);
    if (fitting.length > 1) return this.askForOrganization(attempt, fitting);
    const [account] = fitting;
    if (account) return account;
    await Promise.all(
      candidates.map((candidate, index) =>
        this.recordFailure(candidate, right[index] ?? false, attempt, callerAddress),
      ),
    );
    throw wrongCredentials();
  }

  /** @param fitting those whose password was right: no other organization is told of */
  private async askForOrganization(attempt: Attempt, fitting: readonly LoginCandidate[]): Promise<never> {
    await this.lockOut.takeBack(attempt);
    throw organizationNeeded(fitting.map(({ organizationSlug }) => organizationSlug));
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

function organizationNeeded(slugs: readonly string[]): ApiError {
  const words = slugs.length > 0 ? `must be one of ${slugs.join(', ')}` : 'is needed for this account';
  return badRequest(`Several organizations know this account: organizationSlug ${words}`, {
    organizationSlug: words,
  });
}
