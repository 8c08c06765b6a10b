import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import {
  KnownDeviceStore,
  type LockOutRule,
  passwordCounter,
  type PasswordCounters,
  SignInFailureStore,
} from '#tenant-store';
import { opaqueTokenHash } from '#secrets';
import { tooManyRequests } from '../errors';

/** So many failures cost nothing but the answer. */
const FREE_ATTEMPTS = 4;
/** What each further one waits longer than the one before. */
const SLOWER_BY_MS = 500;

const RULE: LockOutRule = {
  lockAt: 8,
  firstLockSeconds: 60,
  longestLockSeconds: 15 * 60,
  forgetOneAfterSeconds: 3 * 60 * 60,
};
/** The allowance of a device that has signed in before, while strangers keep the account locked. */
const DEVICE_RULE: LockOutRule = { ...RULE, lockAt: 5 };

/** One try at a secret, counted as failed until it is said to be anything else. */
export interface Attempt {
  readonly key: string;
  readonly number: number;
  /** what is counted is locked if this one fails */
  readonly locks: boolean;
}

/** An attempt that a known device makes at the account that is locked for others. */
export interface DeviceAttempt extends Attempt {
  readonly userId: string;
}

/** The secrets that somebody may guess. */
export type Secret = 'password' | 'code';

/** The account an e-mail stands for, however it is spelled. */
interface PasswordAccount {
  readonly email: string;
  readonly organizationSlug: string;
}

/** For who is signed in already: a stranger who locks the account does not lock them out of it. */
export const signedInCounter = (secret: Secret, userId: string): string => `signed-in ${secret} ${userId}`;

const deviceCounter = (secret: Secret, deviceId: string): string => `${secret} device ${deviceId}`;

const countersOf = ({ email, organizationSlug }: PasswordAccount): PasswordCounters => ({
  withSlug: passwordCounter(email, organizationSlug),
  withoutSlug: passwordCounter(email, null),
  email,
});

/** Slows down and then refuses who guesses passwords or codes, wherever the guesses come from. */
@Injectable()
export class LockOut {
  constructor(
    private readonly database: Database,
    private readonly failures: SignInFailureStore,
    private readonly devices: KnownDeviceStore,
  ) {}

  /**
   * To be called before a secret is compared; returns when it may be.
   * @throws ApiError 429 while the counter is locked
   */
  async attempt(key: string): Promise<Attempt> {
    return (await this.attemptUnlessLocked(key)) ?? this.refuse(key);
  }

  /** As `attempt`. @returns null while the counter is locked */
  attemptUnlessLocked(key: string): Promise<Attempt | null> {
    return this.count(key, RULE);
  }

  /**
   * While a counter is locked: the attempt of a device that has signed in to one of the accounts before.
   * @param lockedKey the counter, whose lock is told to everybody else
   * @throws ApiError 429 when the device knows none of them, or has used up its own allowance
   */
  async attemptOfDevice(
    lockedKey: string,
    secret: Secret,
    deviceToken: string | null,
    userIds: readonly string[],
  ): Promise<DeviceAttempt> {
    if (deviceToken === null) return this.refuse(lockedKey);
    // also of no account at all: an account that does not exist is refused in the same time
    const device = await this.devices.find(this.database.autocommit, opaqueTokenHash(deviceToken), userIds);
    if (!device) return this.refuse(lockedKey);
    const key = deviceCounter(secret, device.id);
    const attempt = (await this.count(key, DEVICE_RULE)) ?? (await this.refuse(key));
    return { ...attempt, userId: device.userId };
  }

  /** The secret was right and nothing else is asked for. */
  succeeded({ key }: Pick<Attempt, 'key'>): Promise<void> {
    return this.failures.forget(this.database.autocommit, [key]);
  }

  /** The secret was right, but more is asked for: what failed before still counts. */
  takeBack({ key, number }: Attempt): Promise<void> {
    return this.failures.takeBack(this.database.autocommit, key, number);
  }

  /** An attempt at an account that does not exist: it takes as long as one that is recorded. */
  failedAtNobody({ key }: Attempt): Promise<void> {
    return this.failures.touch(this.database.autocommit, key);
  }

  /** Somebody signed in to the account with its password. */
  passwordProved(account: PasswordAccount): Promise<void> {
    return this.failures.forgetPassword(this.database.autocommit, countersOf(account));
  }

  /** Somebody who reads the account's mail has set a new password: what was guessed at the old one is over. */
  async mailProved(account: PasswordAccount & { readonly userId: string }): Promise<void> {
    const tx = this.database.autocommit;
    const devices = await this.devices.ofUser(tx, account.userId);
    const { withSlug, withoutSlug } = countersOf(account);
    await this.failures.forget(tx, [
      withSlug,
      withoutSlug,
      ...devices.map((device) => deviceCounter('password', device)),
    ]);
  }

  private async count(key: string, rule: LockOutRule): Promise<Attempt | null> {
    const number = await this.failures.count(this.database.autocommit, key, rule);
    if (number === null) return null;
    const slowness = Math.min(Math.max(0, number - FREE_ATTEMPTS), rule.lockAt - FREE_ATTEMPTS);
    if (slowness > 0) await delay(slowness * SLOWER_BY_MS);
    return { key, number, locks: number >= rule.lockAt };
  }

  private async refuse(key: string): Promise<never> {
    const seconds = await this.failures.secondsLocked(this.database.autocommit, key);
    throw tooManyRequests(`Too many failed attempts at this account: try again in ${seconds} s`, seconds);
  }
}
