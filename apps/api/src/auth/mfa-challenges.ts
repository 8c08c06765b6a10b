import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { Tenants } from '#tenant-store';
import { StepTokens, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import { StoredPrincipals } from './stored-principals';

const CHALLENGE_TTL_SECONDS = 300;
const MAX_ATTEMPTS = 5;

/** A sign-in that waits for its second factor. */
export interface MfaChallenge {
  readonly id: string;
  readonly principal: Principal;
  /** of the company sign-in that it belongs to; null: of one by password */
  readonly attemptId: string | null;
}

/** Challenges for the second factor: a token issued after a correct password or a company sign-in, valid for a few attempts and one success. */
@Injectable()
export class MfaChallenges {
  constructor(
    private readonly principals: StoredPrincipals,
    private readonly stores: Tenants,
    private readonly steps: StepTokens,
    private readonly audit: AccountAudit,
  ) {}

  /** @returns the token and its lifetime in seconds */
  async begin(
    tx: Tx,
    { userId, organizationId }: Principal,
    attemptId: string | null,
  ): Promise<{ readonly token: string; readonly expiresIn: number }> {
    const id = await this.stores.mfa.createChallenge(tx, organizationId, userId, CHALLENGE_TTL_SECONDS);
    const claims = { userId, organizationId, id, mfaPassed: false, attemptId };
    const token = await this.steps.issue('mfa-challenge', claims, CHALLENGE_TTL_SECONDS);
    return { token, expiresIn: CHALLENGE_TTL_SECONDS };
  }

  /** Counts an attempt before the code is checked. @throws ApiError 401 when the challenge has ended or is used up */
  async countAttempt(token: string, address: HostAddress | null): Promise<MfaChallenge> {
    const claims = await this.steps.verify('mfa-challenge', token);
    if (!claims) throw challengeEnded();
    const { id, userId, organizationId, attemptId } = claims;
    const tx = this.stores.autocommit;
    const principal = await this.principals.ofAccount(tx, userId, organizationId);
    if (!principal) throw challengeEnded();
    if (!(await this.stores.mfa.countAttempt(tx, principal.organizationId, id, MAX_ATTEMPTS))) {
      await this.audit.recordThrottledFailure('USER_LOGIN', principal, address, 'The MFA challenge was over');
      throw challengeEnded();
    }
    return { id, principal, attemptId };
  }

  /** Exactly one of several concurrent calls succeeds. @throws ApiError 401 for the others */
  async finish(tx: Tx, { id, principal }: MfaChallenge): Promise<void> {
    if (!(await this.stores.mfa.finishChallenge(tx, principal.organizationId, id))) throw challengeEnded();
  }
}

const challengeEnded = (): ApiError =>
  unauthorized('The MFA challenge is invalid, expired or used up: sign in again');
