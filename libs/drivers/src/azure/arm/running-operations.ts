import { LRUCache } from 'lru-cache';
import { asCallFailure, CallFailure } from '../../call-failure';
import type { Deadline } from '../../deadline';
import { retryMs, type ArmJson, type RunningOperation } from './arm-json';

const CAPACITY = 1000;

/**
 * Changes that Azure has accepted and not finished within a driver call, by target. A change of workers loses them; then the
 * same change is sent again, which is harmless.
 */
export class RunningOperations {
  private readonly known = new LRUCache<string, RunningOperation>({ max: CAPACITY });

  remember(id: string, operation: RunningOperation): void {
    this.known.set(id, operation);
  }

  /** @throws CallFailure `conflict` while a change of the target is in progress: nothing is judged by what it shows now */
  async requireIdle(id: string, arm: ArmJson): Promise<void> {
    const operation = this.known.get(id);
    if (!operation || (await hasEnded(operation, arm))) this.known.delete(id);
    else throw inMotion(true);
  }
}

/** @param minutes whether a change of the target takes a minute */
export const inMotion = (minutes: boolean): CallFailure =>
  new CallFailure('conflict', 'Azure is still carrying out a change', null, true, retryMs(minutes));

async function hasEnded(operation: RunningOperation, arm: ArmJson): Promise<boolean> {
  try {
    return await arm.hasEnded(operation);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    // it failed, is not known any more, or may not be asked for: the target's rules show what has become of it
    if (error.settled && error.kind !== 'throttled') return true;
    throw error;
  }
}

const PAUSE_MS = 1000;

/** Waits for what reads show, where the credential may not ask for an operation. @returns false when the call's time is over */
export async function isShown(deadline: Deadline, read: () => Promise<boolean>): Promise<boolean> {
  while (deadline.hasTimeFor(1)) {
    try {
      if (await read()) return true;
    } catch (error) {
      // the change was accepted: no failure of a read is a verdict on it
      asCallFailure(error);
    }
    await deadline.pause(PAUSE_MS).catch(() => undefined);
  }
  return false;
}
