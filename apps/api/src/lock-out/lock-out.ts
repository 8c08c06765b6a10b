import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type LockOutRule, passwordCounter, type PasswordCounters, Tenants } from '#tenant-store';
import { opaqueTokenHash } from '#secrets';
import { tooManyRequests } from '../errors';

/** Attempts without a delay. */
const UNDELAYED_ATTEMPTS = 4;
/** Each further attempt is delayed by this much more. */
const DELAY_STEP_MS = 500;

const RULE: LockOutRule = {
  lockAt: 8,
  firstLockSeconds: 60,
  maxLockSeconds: 15 * 60,
  decaySeconds: 3 * 60 * 60,
};
/** For a known device, while the account is locked by others' attempts. */
const DEVICE_RULE: LockOutRule = { ...RULE, lockAt: 5 };

/** An attempt at a secret. Counts as failed until reported otherwise. */
export interface Attempt {
  readonly key: string;
  readonly number: number;
  /** true: the counter is locked if this attempt fails */
  readonly locks: boolean;
}

/** An attempt of a known device at a locked account. */
export interface DeviceAttempt extends Attempt {
  readonly userId: string;
}

/** The kinds of secrets that can be guessed. */
export type Secret = 'password' | 'code';

/** Identifies an account by its normalized e-mail. */
interface PasswordAccount {
  readonly email: string;
  readonly organizationSlug: string;
}

/** Separate counter for signed-in users, who are not affected by locks caused by others. */
export const signedInCounter = (secret: Secret, userId: string): string => `signed-in ${secret} ${userId}`;

const deviceCounter = (secret: Secret, deviceId: string): string => `${secret} device ${deviceId}`;

const countersOf = ({ email, organizationSlug }: PasswordAccount): PasswordCounters => ({
  withSlug: passwordCounter(email, organizationSlug),
  withoutSlug: passwordCounter(email, null),
  email,
});

/** Delays and then refuses attempts at passwords and codes, regardless of their source address. */
@Injectable()
export class LockOut {
  constructor(private readonly stores: Tenants) {}

  /**
   * Call before comparing a secret. Returns after the delay.
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
   * @param lockedKey the locked counter
   * @throws ApiError 429 when the device is unknown to these accounts, or is locked itself
   */
  async attemptOfDevice(
    lockedKey: string,
    secret: Secret,
    deviceToken: string | null,
    userIds: readonly string[],
  ): Promise<DeviceAttempt> {
    if (deviceToken === null) return this.refuse(lockedKey);
    // also queried without accounts, so that the response time does not reveal whether an account exists
    const { autocommit, knownDevices } = this.stores;
    const device = await knownDevices.find(autocommit, opaqueTokenHash(deviceToken), userIds);
    if (!device) return this.refuse(lockedKey);
    const key = deviceCounter(secret, device.id);
    const attempt = (await this.count(key, DEVICE_RULE)) ?? (await this.refuse(key));
    return { ...attempt, userId: device.userId };
  }

  /** Runs the comparison of a counted attempt. When it cannot be made, the attempt does not count. */
  async compare<T>(attempt: Attempt, comparison: Promise<T>): Promise<T> {
    try {
      return await comparison;
    } catch (error) {
      await this.undoAttempt(attempt);
      throw error;
    }
  }

  /** The secret was correct and nothing else is required: resets the counter. */
  noteSuccess({ key }: Pick<Attempt, 'key'>): Promise<void> {
    return this.stores.signInFailures.forget(this.stores.autocommit, [key]);
  }

  /** The secret was correct but another step is required: earlier failures still count. */
  undoAttempt({ key, number }: Attempt): Promise<void> {
    return this.stores.signInFailures.undoAttempt(this.stores.autocommit, key, number);
  }

  /** A failed attempt at an account that does not exist. Takes as long as recording a failure. */
  noteUnknownAccount({ key }: Attempt): Promise<void> {
    return this.stores.signInFailures.touch(this.stores.autocommit, key);
  }

  /** A sign-in with the account's password succeeded. */
  noteVerifiedPassword(account: PasswordAccount): Promise<void> {
    return this.stores.signInFailures.forgetPassword(this.stores.autocommit, countersOf(account));
  }

  /** The owner of the account's mailbox set a new password: failures with the old one are forgotten. */
  async recordVerifiedMailbox(account: PasswordAccount & { readonly userId: string }): Promise<void> {
    const tx = this.stores.autocommit;
    const devices = await this.stores.knownDevices.ofUser(tx, account.userId);
    const { withSlug, withoutSlug } = countersOf(account);
    await this.stores.signInFailures.forget(tx, [
      withSlug,
      withoutSlug,
      ...devices.map((device) => deviceCounter('password', device)),
    ]);
  }

  private async count(key: string, rule: LockOutRule): Promise<Attempt | null> {
    const number = await this.stores.signInFailures.count(this.stores.autocommit, key, rule);
    if (number === null) return null;
    const steps = Math.min(Math.max(0, number - UNDELAYED_ATTEMPTS), rule.lockAt - UNDELAYED_ATTEMPTS);
    if (steps > 0) await delay(steps * DELAY_STEP_MS);
    return { key, number, locks: number >= rule.lockAt };
  }

  private async refuse(key: string): Promise<never> {
    const seconds = await this.stores.signInFailures.readSecondsLocked(this.stores.autocommit, key);
    throw tooManyRequests(`Too many failed attempts at this account: try again in ${seconds} s`, seconds);
  }
}
