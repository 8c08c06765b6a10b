import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, SignInFailureStore, type LockOutRule } from '#entities';
import { tooManyRequests } from '../errors';

/** So many failures cost nothing but the answer. */
const FREE_ATTEMPTS = 4;
/** What each further one waits longer than the one before. */
const SLOWER_BY_MS = 500;

const RULE: LockOutRule = {
  lockAt: 8,
  firstLockSeconds: 60,
  longestLockSeconds: 15 * 60,
  forgetAfterSeconds: 24 * 60 * 60,
};

/** One try at a secret, counted as failed until it is said to be anything else. */
export interface Attempt {
  readonly key: string;
  readonly number: number;
  /** the account is locked if this one fails */
  readonly locks: boolean;
}

/** The account an e-mail stands for, however it is spelled, in whatever organization, known or not. */
export const accountKey = (email: string): string => email.normalize('NFKC').trim().toLowerCase();

/** For who is signed in already: a stranger who locks the account does not lock them out of it. */
export const signedInKey = (userId: string): string => `user ${userId}`;

/** Slows down and then refuses who guesses passwords or codes, wherever the guesses come from. */
@Injectable()
export class LockOut {
  constructor(
    private readonly database: Database,
    private readonly failures: SignInFailureStore,
  ) {}

  /**
   * To be called before a secret is compared; returns when it may be.
   * @throws ApiError 429 while the account is locked
   */
  async attempt(key: string): Promise<Attempt> {
    const number = await this.failures.count(this.database.autocommit, key, RULE);
    if (number === null) {
      const seconds = await this.failures.secondsLocked(this.database.autocommit, key);
      throw tooManyRequests(`Too many failed attempts at this account: try again in ${seconds} s`, seconds);
    }
    const slowness = Math.min(Math.max(0, number - FREE_ATTEMPTS), RULE.lockAt - FREE_ATTEMPTS);
    if (slowness > 0) await delay(slowness * SLOWER_BY_MS);
    return { key, number, locks: number >= RULE.lockAt };
  }

  /** The secret was right and nothing else is asked for. */
  succeeded({ key }: Pick<Attempt, 'key'>): Promise<void> {
    return this.failures.forget(this.database.autocommit, key);
  }

  /** The secret was right, but more is asked for: what failed before still counts. */
  takeBack({ key, number }: Attempt): Promise<void> {
    return this.failures.takeBack(this.database.autocommit, key, number);
  }
}
