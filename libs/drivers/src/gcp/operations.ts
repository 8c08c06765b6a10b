import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RETRYABLE_KINDS } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import { operationFailure } from './gcp-errors';
import type { Operation } from './compute-messages';
import type { VpcNetwork } from './vpc-network';

const POLL_INTERVAL_MS = 500;

/**
 * Polls an operation until it has completed.
 * @param deadline on the clock of `performance.now`
 * @throws CallFailure settled when the operation failed; not settled when its completion was not observed
 */
export async function waitForOperation(
  network: VpcNetwork,
  started: Operation,
  deadline: number,
): Promise<Operation> {
  let operation = started;
  while (!operation.isDone) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) {
      throw new CallFailure('transient', `Operation ${started.name} is still running`, null, false);
    }
    operation = (await poll(network, operation, leftMs)) ?? operation;
    if (!operation.isDone) await pause(Math.min(POLL_INTERVAL_MS, Math.max(1, deadline - performance.now())));
  }
  if (operation.errors.length > 0) throw operationFailure(operation.errors, operation.status);
  return operation;
}

/** @returns null after a retryable failure */
async function poll(network: VpcNetwork, operation: Operation, timeoutMs: number): Promise<Operation | null> {
  try {
    return await network.wait(operation.name, timeoutMs);
  } catch (error) {
    const { kind, message, code } = asCallFailure(error);
    if (RETRYABLE_KINDS.has(kind)) return null;
    // The write was accepted: a denied poll says nothing about its outcome.
    const text = `Operation ${operation.name} cannot be watched: ${message}`;
    throw new CallFailure(kind, text, code, false);
  }
}

/** A deterministic request id (idempotency key): Compute answers a repeated request with the first one's operation. */
export function requestIdOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
