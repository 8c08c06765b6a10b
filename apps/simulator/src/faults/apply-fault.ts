import { setTimeout as pause } from 'node:timers/promises';
import { NO_ANSWER, type CloudAnswer, type World } from '../provider';
import type { ActiveFault, FaultKind, FaultScope } from './fault-script';

/** How a fault modifies the execution of a call. */
export interface CallModifiers {
  /** answer a read with the state as of this moment, microseconds since 1970 */
  readonly asOf?: number;
  /** apply the first half of the items, rounded up */
  readonly firstHalf?: boolean;
}

const REFUSALS = [
  'throttle',
  'error',
  'refuse',
  'not-found',
  'quota',
  'conflict',
  'invalid',
  'unauthenticated',
] as const;

export type Refusal = (typeof REFUSALS)[number];

/** The provider's ways to execute and to refuse a call. */
export interface CallHandlers {
  perform(how: CallModifiers): CloudAnswer | Promise<CloudAnswer>;
  refuse(why: Refusal): CloudAnswer;
  /** Accepts a write that fails later; without it, `fail-later` answers with an error at once. */
  failLater?(): CloudAnswer | Promise<CloudAnswer>;
}

const isRefusal = (kind: FaultKind): kind is Refusal => REFUSALS.some((refusal) => refusal === kind);

/** An answer of a proxy instead of the provider. */
const HTML_PAGE: CloudAnswer = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><html><head><title>One moment</title></head><body><p>Back soon.</body></html>',
  outcome: 'HTML_PAGE',
};

/** Larger than any valid answer. */
const OVERSIZED_BYTES = 12_000_000;

const DEFAULT_SLOW_MS = 5000;
const DEFAULT_STALE_MS = 5000;

/**
 * Executes a call with the fault that hits it, if any. A call from before a reset is neither executed nor answered.
 * @param epoch the world's epoch when the call arrived
 * @returns the provider's answer, or NO_ANSWER when the call is left unanswered
 */
export async function applyFault(
  world: World,
  epoch: number,
  call: FaultScope,
  handlers: CallHandlers,
): Promise<CloudAnswer | typeof NO_ANSWER> {
  if (epoch !== world.epoch) return NO_ANSWER;
  const fault = world.faults.take(call);
  if (!fault) return handlers.perform({});
  if (isRefusal(fault.kind)) return withRetryAfter(handlers.refuse(fault.kind), fault);
  switch (fault.kind) {
    case 'slow':
      await pause(fault.delayMs ?? DEFAULT_SLOW_MS);
      return epoch === world.epoch ? handlers.perform({}) : NO_ANSWER;
    case 'stale-read':
      return handlers.perform({ asOf: world.clock.now() - (fault.delayMs ?? DEFAULT_STALE_MS) * 1000 });
    case 'partial': {
      const answer = await handlers.perform({ firstHalf: true });
      return answer.outcome === 'OK' ? handlers.refuse('error') : answer;
    }
    case 'timeout-after-success':
      await handlers.perform({});
      return NO_ANSWER;
    case 'fail-later':
      return handlers.failLater ? handlers.failLater() : handlers.refuse('error');
    case 'timeout-before':
      return NO_ANSWER;
    case 'html-page':
      return HTML_PAGE;
    case 'oversized':
      return { ...HTML_PAGE, body: HTML_PAGE.body.padEnd(OVERSIZED_BYTES), outcome: 'OVERSIZED' };
    case 'truncated':
      return truncated(await handlers.perform({}));
    case 'error-in-success':
      return { ...handlers.refuse('error'), status: 200, outcome: 'ERROR_IN_SUCCESS' };
  }
  return fault.kind satisfies never;
}

function withRetryAfter(answer: CloudAnswer, { kind, delayMs }: ActiveFault): CloudAnswer {
  if (kind !== 'throttle' || delayMs === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(Math.ceil(delayMs / 1000)) } };
}

/** Cuts the body in half. */
const truncated = (answer: CloudAnswer): CloudAnswer => ({
  ...answer,
  body: answer.body.slice(0, answer.body.length / 2),
  outcome: 'TRUNCATED',
});
