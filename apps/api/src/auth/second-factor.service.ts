import { Injectable } from '@nestjs/common';
import { AccountStore, Database, MfaStore } from '#entities';
import { StepTokens, type Principal } from '#guards';
import { unauthorized, type ApiError } from '../errors';
import { MfaCodes } from '../mfa/mfa-codes';
import { AccountAudit } from './account-audit';
import type { VerifyMfaDto } from './dto/credentials.dto';
import { accountKey, LockOut } from './lock-out';
import { SignInService, type SignInOutcome } from './sign-in.service';
import { principalOf } from './stored-principals';

const MOST_TRIES = 5;

interface Challenge {
  readonly id: string;
  readonly principal: Principal;
}

/** The second step of a sign-in. */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly mfa: MfaStore,
    private readonly codes: MfaCodes,
    private readonly steps: StepTokens,
    private readonly lockOut: LockOut,
    private readonly signIn: SignInService,
    private readonly audit: AccountAudit,
  ) {}

  /** @throws ApiError 401 when the challenge is over or the code wrong or used before; 429 while the account is locked */
  async verify(asked: VerifyMfaDto, callerAddress: string | null): Promise<SignInOutcome> {
    const challenge = await this.challengeOf(asked.mfaChallengeToken);
    const { principal } = challenge;
    const attempt = await this.lockOut.attempt(accountKey(principal.email));
    const outcome = await this.answer(challenge, asked.code, callerAddress);
    if (!outcome) {
      await this.audit.failed('USER_LOGIN', principal, callerAddress, 'The second factor is wrong');
      if (attempt.locks) await this.audit.lockedOut(principal, callerAddress, attempt.number);
      throw wrongCode();
    }
    if (outcome.step === 'signed-in') await this.lockOut.succeeded(attempt);
    else await this.lockOut.takeBack(attempt);
    return outcome;
  }

  /** Counts a try at the challenge. */
  private async challengeOf(token: string): Promise<Challenge> {
    const claims = await this.steps.verify('mfa-challenge', token);
    if (!claims) throw challengeOver();
    const { id, userId, organizationId } = claims;
    const tx = this.database.autocommit;
    const principal = principalOf(await this.accounts.principalOfUser(tx, userId, organizationId));
    if (!principal) throw challengeOver();
    if (!(await this.mfa.countTry(tx, principal.organizationId, id, MOST_TRIES))) throw challengeOver();
    return { id, principal };
  }

  /** One transaction: the code is used up only by the sign-in that it made. @returns null when the code is wrong */
  private answer(
    { id, principal }: Challenge,
    code: string,
    callerAddress: string | null,
  ): Promise<SignInOutcome | null> {
    return this.database.transaction(async (tx) => {
      if (!(await this.codes.take(tx, principal, code))) return null;
      if (!(await this.mfa.finishChallenge(tx, principal.organizationId, id))) throw challengeOver();
      return this.signIn.goOn(tx, principal, { mfaPassed: true, callerAddress });
    });
  }
}

const challengeOver = (): ApiError =>
  unauthorized('The MFA challenge is invalid, expired or used up: sign in again');
const wrongCode = (): ApiError => unauthorized('The code is wrong or was used before: wait for the next one');
