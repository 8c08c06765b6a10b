import { requestedResources } from '#client';
import { groundsOf, type Grounds } from '../access/approval';
import { HeldAccess, type AccessRequest } from '../access/held-access';
import { leaseNotes } from '../access/lease-notes';
import type { Call } from '../program';
import { Interrupted, signalExitCode, type Signals } from '../terminal/signals';

/** Options of the commands that hold access while they work. */
export interface AccessOptions extends Grounds {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly lease: number;
  readonly addresses: 'observed' | 'all';
  readonly timeout: number;
  readonly allowPartial?: boolean;
}

export const requestOf = (
  purpose: string,
  { resource, hours, lease, addresses, timeout, allowPartial = false, ...grounds }: AccessOptions,
): AccessRequest => ({
  purpose: `cli-${purpose}`,
  resources: requestedResources(resource),
  hours,
  leaseSeconds: lease,
  addresses,
  timeoutMs: 1000 * timeout,
  allowPartial,
  grounds: groundsOf(grounds),
});

/**
 * Gives access while something works with it.
 * @param signals a signal gives the start up, and decides the exit code
 * @returns the exit code of the work
 */
export async function whileHeld(
  call: Call<AccessOptions>,
  purpose: string,
  signals: Signals,
  work: (access: HeldAccess) => Promise<number>,
): Promise<number> {
  const { options, output } = call;
  try {
    const context = { output, listener: leaseNotes(output), signal: signals.aborted };
    const access = await HeldAccess.open(call.connection, requestOf(purpose, options), context);
    try {
      return await work(access);
    } finally {
      await access.close(output);
    }
  } catch (error) {
    const { reason } = signals.aborted as { reason: unknown };
    if (reason instanceof Interrupted) return signalExitCode(reason.signal);
    throw error;
  } finally {
    signals.close();
  }
}
