import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { codeCounter } from '#tenant-store';
import { unauthorized, type ApiError } from '../errors';
import { MfaCodes } from '../mfa/mfa-codes';
import { AccountAudit } from './account-audit';
import type { VerifyMfaDto } from './dto/credentials.dto';
import { LockOut, type Attempt } from '../lock-out/lock-out';
import { MfaChallenges, type MfaChallenge } from './mfa-challenges';
import type { SignInClient } from './sign-in-client';
import { SignInService, type SignInOutcome, type SignInProgress } from './sign-in.service';

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

  /** @throws ApiError 401 when the challenge has ended or the code is wrong or used; 429 while codes are locked */
  async verify(dto: VerifyMfaDto, client: SignInClient): Promise<SignInOutcome> {
    const challenge = await this.challenges.countAttempt(dto.mfaChallengeToken, client.address);
    const { principal, attemptId } = challenge;
    const deviceToken = dto.deviceToken ?? null;
    const attempt = await this.attempt(principal.userId, deviceToken);
    const outcome = await this.answer(challenge, dto.code, {
      mfaPassed: true,
      client,
      deviceToken,
      attemptId,
    });
    if (!outcome) {
      await this.audit.recordFailure('USER_LOGIN', principal, client.address, 'The second factor is wrong');
      if (attempt.locks) await this.audit.recordLockOut(principal, client.address, attempt.number);
      throw wrongCode();
    }
    if (outcome.step !== 'signed-in') {
      await this.lockOut.undoAttempt(attempt);
      return outcome;
    }
    await this.lockOut.noteSuccess(attempt);
    if (attemptId === null) await this.lockOut.noteVerifiedPassword(principal);
    return outcome;
  }

  private async attempt(userId: string, deviceToken: string | null): Promise<Attempt> {
    const counter = codeCounter(userId);
    const attempt = await this.lockOut.attemptUnlessLocked(counter);
    return attempt ?? this.lockOut.attemptOfDevice(counter, 'code', deviceToken, [userId]);
  }

  /** Consumes the code and signs in, in one transaction. @returns null when the code is wrong */
  private answer(
    challenge: MfaChallenge,
    code: string,
    progress: SignInProgress,
  ): Promise<SignInOutcome | null> {
    return this.database.transaction(async (tx) => {
      if (!(await this.codes.consume(tx, challenge.principal, code))) return null;
      await this.challenges.finish(tx, challenge);
      return this.signIn.advance(tx, challenge.principal, progress);
    });
  }
}

const wrongCode = (): ApiError => unauthorized('The code is wrong or was used before: wait for the next one');
