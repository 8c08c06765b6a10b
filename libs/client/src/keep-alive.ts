import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type Api, type Schemas } from './api';
import type { AccessEnd } from './clock';
import { ApiFailure } from './failure';

export interface Lease {
  readonly sessionId: string;
  readonly leaseSeconds: number;
  readonly control: Api;
  /** moves on with each renewal */
  readonly end: AccessEnd;
}

/** What happens to a lease. Each is called once per change, but `heardFrom` with each renewal. */
export interface LeaseListener {
  /** renewals fail: the access ends at this time unless they succeed again */
  lost(reason: string, endsAt: Date): void;
  /** renewals succeed again */
  regained(): void;
  /** @param address that the renewal came from and that the session does not let in; null: it came from where it may */
  heardFrom?(address: string | null): void;
  /** the session has ended; nothing is renewed any more */
  ended(reason: string): void;
}

type Renewed = Schemas['RenewedSessionDto'];

/** Renewals are this many to a lease: two may be lost. */
const RENEWALS_PER_LEASE = 3;

/** What is left of a lease when it is renewed: no client waits longer for a server that asks for patience. */
export const patienceOf = (leaseSeconds: number): number =>
  (1000 * leaseSeconds * (RENEWALS_PER_LEASE - 1)) / RENEWALS_PER_LEASE;

/** How often a lease is renewed, in milliseconds. */
const renewalIntervalMs = (leaseSeconds: number): number => (1000 * leaseSeconds) / RENEWALS_PER_LEASE;
const MAX_PAUSE_AFTER_FAILURE_MS = 5_000;

/**
 * Renews a lease at a third of it until `signal` is aborted or the session has ended. Never throws: the caller
 * decides what its end means.
 */
export async function keepAlive(lease: Lease, listener: LeaseListener, signal: AbortSignal): Promise<void> {
  const intervalMs = renewalIntervalMs(lease.leaseSeconds);
  const pauseMs = Math.min(intervalMs, MAX_PAUSE_AFTER_FAILURE_MS);
  let isLost = false;
  await pause(intervalMs, signal);
  while (!signal.aborted) {
    const { latest } = lease.end;
    const outcome = await renew(lease, signal);
    if (outcome instanceof Error) lease.end.mayBeRenewed(lease.leaseSeconds);
    else lease.end.renew(outcome);
    if (signal.aborted) return;
    if (!(outcome instanceof Error)) {
      if (isLost) listener.regained();
      isLost = false;
      listener.heardFrom?.(outcome.renewedFrom);
    } else if (hasEnded(outcome)) {
      listener.ended(outcome.message);
      return;
    } else if (!isLost) {
      isLost = true;
      listener.lost(outcome.message, latest);
    }
    await pause(isLost ? pauseMs : intervalMs, signal);
  }
}

async function renew({ sessionId, control }: Lease, signal: AbortSignal): Promise<Renewed | Error> {
  try {
    return await bodyOf(
      control.POST('/api/v1/sessions/{id}/renew', {
        params: { path: { id: sessionId } },
        signal,
      }),
    );
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** 409: it is over. 401, 403, 404: so is its token, or its user's access. */
const hasEnded = (error: Error): boolean =>
  error instanceof ApiFailure && [401, 403, 404, 409].includes(error.status);

/** @returns also when the signal is aborted */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
