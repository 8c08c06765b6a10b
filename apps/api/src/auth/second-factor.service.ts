import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { unauthorized, type ApiError } from '../errors';
import { MfaCodes } from '../mfa/mfa-codes';
import { AccountAudit } from './account-audit';
import type { VerifyMfaDto } from './dto/credentials.dto';
import { accountKey, LockOut } from './lock-out';
import { MfaChallenges, type MfaChallenge } from './mfa-challenges';
import { SignInService, type SignInOutcome } from './sign-in.service';

/** The second step of a sign-in. */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly database: Database,
    private readonly challenges: MfaChallenges,
    private readonly codes: MfaCodes,
    private readonly lockOut: LockOut,
    private readonly signIn: SignInService,
    private readonly audit: AccountAudit,
  ) {}

  /** @throws ApiError 401 when the challenge is over or the code wrong or used before; 429 while the account is locked */
  async verify(asked: VerifyMfaDto, callerAddress: string | null): Promise<SignInOutcome> {
    const challenge = await this.challenges.countTry(asked.mfaChallengeToken);
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

  /** One transaction: the code is used up only by the sign-in that it made. @returns null when the code is wrong */
  private answer(
    challenge: MfaChallenge,
    code: string,
    callerAddress: string | null,
  ): Promise<SignInOutcome | null> {
    return this.database.transaction(async (tx) => {
      if (!(await this.codes.take(tx, challenge.principal, code))) return null;
      await this.challenges.finish(tx, challenge);
      return this.signIn.goOn(tx, challenge.principal, { mfaPassed: true, callerAddress });
    });
  }
}

const wrongCode = (): ApiError => unauthorized('The code is wrong or was used before: wait for the next one');
