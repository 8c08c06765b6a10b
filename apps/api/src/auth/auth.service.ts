import { Injectable } from '@nestjs/common';
import { type LoginCandidate, passwordCounter, type UserProfileRow, Tenants } from '#tenant-store';
import { CompanySignInRequired, type Principal } from '#guards';
import { PasswordHasher } from '#secrets';
import type { HostAddress } from '#rules';
import { badRequest, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import type { LoginDto } from './dto/credentials.dto';
import { LockOut, type Attempt } from '../lock-out/lock-out';
import { hashClientOf, type SignInClient } from './sign-in-client';
import { SignInService, wrongCredentials, type SignInOutcome } from './sign-in.service';

/**
 * Accounts whose password is compared when no organization is given. Anyone can register organizations with another
 * person's e-mail: the owner of a further account gives the organization, as the 401 of every wrong password says.
 */
const MAX_ACCOUNTS_TRIED = 3;

/** The accounts to compare and the counter of the attempt. */
interface LoginAttempt {
  readonly attempt: Attempt;
  readonly candidates: readonly LoginCandidate[];
  /** the counter covers several accounts: a match of one does not reset it */
  readonly isShared: boolean;
  readonly isOfDevice: boolean;
}

/** Password sign-in. */
@Injectable()
export class AuthService {
  constructor(
    private readonly stores: Tenants,
    private readonly hasher: PasswordHasher,
    private readonly audit: AccountAudit,
    private readonly lockOut: LockOut,
    private readonly signIn: SignInService,
  ) {}

  /**
   * @throws ApiError 401, indistinguishable in content and time for an unknown e-mail, a wrong password and an inactive
   *   user; 400 when the password matches several organizations; 429 while the account is locked. @throws CompanySignInRequired @throws TooBusy
   */
  async login(dto: LoginDto, client: SignInClient): Promise<SignInOutcome> {
    this.hasher.refuseIfBusy(hashClientOf(client));
    const login = await this.begin(dto);
    const account = await this.accountOf(dto.password, login, client);
    await this.refuseWithoutIssuer(login, account, client);
    const deviceToken = dto.deviceToken ?? null;
    const outcome = await this.stores.transaction((tx) =>
      this.signIn.advance(tx, account, { mfaPassed: false, client, deviceToken, attemptId: null }),
    );
    await this.settle(login, account, outcome);
    await this.renewHash(account, dto.password, client);
    return outcome;
  }

  /** A hash with another cost would reveal the account by the response time of a wrong password. */
  private async renewHash(
    { organizationId, userId, passwordHash }: LoginCandidate,
    password: string,
    client: SignInClient,
  ): Promise<void> {
    const hashClient = hashClientOf(client);
    if (passwordHash === null || !(await this.hasher.isOutdated(passwordHash, password, hashClient))) return;
    const renewed = await this.hasher.hash(password, hashClient);
    const { autocommit, passwords } = this.stores;
    await passwords.renewHash(autocommit, organizationId, userId, renewed, passwordHash);
  }

  /** The fields of `GET /auth/me` beyond the principal. */
  async profile(principal: Principal): Promise<UserProfileRow> {
    const { userId, organizationId } = principal;
    const profile = await this.stores.accounts.profileOfUser(this.stores.autocommit, userId, organizationId);
    // deleted since the guard's check
    if (!profile) throw unauthorized('The access token is invalid or expired');
    return profile;
  }

  /** @throws ApiError 429 while the account is locked, unless the request comes from a known device */
  private async begin({ email, organizationSlug, deviceToken }: LoginDto): Promise<LoginAttempt> {
    const slug = organizationSlug?.toLowerCase() ?? null;
    const counter = passwordCounter(email, slug);
    const attempt = await this.lockOut.attemptUnlessLocked(counter);
    const known = await this.stores.accounts.loginCandidates(this.stores.autocommit, email, slug);
    if (attempt) {
      return {
        attempt,
        candidates: known.slice(0, MAX_ACCOUNTS_TRIED),
        isShared: known.length > 1,
        isOfDevice: false,
      };
    }
    const userIds = known.map(({ userId }) => userId);
    const ofDevice = await this.lockOut.attemptOfDevice(counter, 'password', deviceToken ?? null, userIds);
    const candidates = known.filter(({ userId }) => userId === ofDevice.userId);
    return { attempt: ofDevice, candidates, isShared: false, isOfDevice: true };
  }

  /** @throws CompanySignInRequired after a right password, which counts as no failure */
  private async refuseWithoutIssuer(
    { attempt, isShared }: LoginAttempt,
    account: LoginCandidate,
    { address }: SignInClient,
  ): Promise<void> {
    const { userId, organizationId } = account;
    const tx = this.stores.autocommit;
    const requirements = await this.stores.accounts.signInRequirements(tx, userId, organizationId);
    if (!requirements?.companySignInRequired) return;
    if (!isShared) await this.lockOut.undoAttempt(attempt);
    const reason = 'A password is not enough: the organization asks for company sign-in';
    await this.audit.recordThrottledFailure('USER_LOGIN', account, address, reason);
    throw new CompanySignInRequired();
  }

  private async accountOf(
    password: string,
    { attempt, candidates }: LoginAttempt,
    client: SignInClient,
  ): Promise<LoginCandidate> {
    const { address } = client;
    // without an account one is compared, too: the time must not reveal that there is none
    const hashes = candidates.length === 0 ? [null] : candidates.map(({ passwordHash }) => passwordHash);
    const comparisons = hashes.map((hash) => this.hasher.verify(password, hash, hashClientOf(client)));
    const matches = await this.lockOut.compare(attempt, Promise.all(comparisons));
    const matching = candidates.filter(({ isActive }, index) => isActive && matches[index]);
    if (matching.length > 1) throw organizationRequired(matching);
    const [account] = matching;
    if (account) return account;
    if (candidates.length === 0) await this.lockOut.noteUnknownAccount(attempt);
    await Promise.all(
      candidates.map((candidate, index) =>
        this.recordFailure(candidate, matches[index] ?? false, attempt, address),
      ),
    );
    throw wrongCredentials();
  }

  private async settle(
    { attempt, isShared, isOfDevice }: LoginAttempt,
    { email, organizationSlug }: LoginCandidate,
    outcome: SignInOutcome,
  ): Promise<void> {
    // a correct password alone must not reset the counter before the second factor is verified
    if (outcome.step !== 'signed-in') return isShared ? undefined : this.lockOut.undoAttempt(attempt);
    // a sign-in from a known device does not unlock the account for others
    if (isOfDevice) return this.lockOut.noteSuccess(attempt);
    return this.lockOut.noteVerifiedPassword({ email, organizationSlug });
  }

  private async recordFailure(
    candidate: LoginCandidate,
    passwordMatches: boolean,
    attempt: Attempt,
    address: HostAddress | null,
  ): Promise<void> {
    const reason = passwordMatches ? 'The user is not active' : 'The password is wrong';
    await this.audit.recordFailure('USER_LOGIN', candidate, address, reason);
    if (attempt.locks) await this.audit.recordLockOut(candidate, address, attempt.number);
  }
}

/** @param matching the accounts whose password matched: other organizations must not be revealed */
function organizationRequired(matching: readonly LoginCandidate[]): ApiError {
  const message = `must be one of ${matching.map(({ organizationSlug }) => organizationSlug).join(', ')}`;
  return badRequest(`Several organizations know this account: organizationSlug ${message}`, {
    organizationSlug: message,
  });
}
