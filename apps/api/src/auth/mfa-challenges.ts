import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '#entities';
import { AccountStore, MfaStore } from '#tenant-store';
import { StepTokens, type Principal } from '#guards';
import { unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import { principalOf } from './stored-principals';

const LASTS_SECONDS = 300;
const MAX_ATTEMPTS = 5;

/** A sign-in that waits for its second factor. */
export interface MfaChallenge {
  readonly id: string;
  readonly principal: Principal;
}

/** Challenges to prove a second factor: a token for whoever knew the password, good for some tries and one success. */
@Injectable()
export class MfaChallenges {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly mfa: MfaStore,
    private readonly steps: StepTokens,
    private readonly audit: AccountAudit,
  ) {}

  /** @returns the token, and the seconds it lasts */
  async begin(
    tx: Tx,
    { userId, organizationId }: Principal,
  ): Promise<{ readonly token: string; readonly expiresIn: number }> {
    const id = await this.mfa.createChallenge(tx, organizationId, userId, LASTS_SECONDS);
    const claims = { userId, organizationId, id, mfaPassed: false };
    const token = await this.steps.issue('mfa-challenge', claims, LASTS_SECONDS);
    return { token, expiresIn: LASTS_SECONDS };
  }

  /** Counts a try before it is made. @throws ApiError 401 when the challenge is over or had as many as it may */
  async countTry(token: string, callerAddress: string | null): Promise<MfaChallenge> {
    const claims = await this.steps.verify('mfa-challenge', token);
    if (!claims) throw isOver();
    const { id, userId, organizationId } = claims;
    const tx = this.database.autocommit;
    const principal = principalOf(await this.accounts.principalOfUser(tx, userId, organizationId));
    if (!principal) throw isOver();
    if (!(await this.mfa.countTry(tx, principal.organizationId, id, MAX_ATTEMPTS))) {
      await this.audit.refused('USER_LOGIN', principal, callerAddress, 'The MFA challenge was over');
      throw isOver();
    }
    return { id, principal };
  }

  /** Of many who finish it at once one does. @throws ApiError 401 for the others */
  async finish(tx: Tx, { id, principal }: MfaChallenge): Promise<void> {
    if (!(await this.mfa.finishChallenge(tx, principal.organizationId, id))) throw isOver();
  }
}

const isOver = (): ApiError =>
  unauthorized('The MFA challenge is invalid, expired or used up: sign in again');
