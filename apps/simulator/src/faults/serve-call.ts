import { setTimeout as pause } from 'node:timers/promises';
import { CloudError } from '../cloud-error';
import type { ServedCall } from '../ground-truth/call-log';
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

/** The provider's ways to check, execute and refuse a call. Each may throw CloudError. */
export interface CallHandlers {
  /** What the cloud looks at before anything else: who calls, and whether there is such a call. */
  check?(): void | Promise<void>;
  perform(how: CallModifiers): CloudAnswer | Promise<CloudAnswer>;
  /** The cloud's error for a fault. */
  refuse(why: Refusal): CloudError;
  /** Accepts a write that fails later; without it, `fail-later` answers with an error at once. */
  failLater?(): CloudAnswer | Promise<CloudAnswer>;
  render(error: CloudError): CloudAnswer;
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
 * Answers a call, with the fault that hits it, if any, and records it in the call log. A call from before a reset is neither
 * executed nor answered.
 * @param epoch the world's epoch when the call arrived
 * @returns the provider's answer, or NO_ANSWER when the call is left unanswered
 */
export async function serveCall(
  world: World,
  epoch: number,
  call: ServedCall,
  handlers: CallHandlers,
): Promise<CloudAnswer | typeof NO_ANSWER> {
  const entry = world.calls.arrive(call);
  const answer = await render(handlers, async () => {
    await handlers.check?.();
    return applyFault(world, epoch, call, handlers);
  });
  entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
  return answer;
}

async function render<T>(handlers: CallHandlers, act: () => T | Promise<T>): Promise<T | CloudAnswer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof CloudError) return handlers.render(error);
    throw error;
  }
}

async function applyFault(
  world: World,
  epoch: number,
  call: FaultScope,
  handlers: CallHandlers,
): Promise<CloudAnswer | typeof NO_ANSWER> {
  if (epoch !== world.epoch) return NO_ANSWER;
  const perform = (how: CallModifiers): Promise<CloudAnswer> => render(handlers, () => handlers.perform(how));
  const refuse = (why: Refusal): CloudAnswer => handlers.render(handlers.refuse(why));
  const fault = world.faults.take(call);
  if (!fault) return perform({});
  if (isRefusal(fault.kind)) return withRetryAfter(refuse(fault.kind), fault);
  switch (fault.kind) {
    case 'slow':
      await pause(fault.delayMs ?? DEFAULT_SLOW_MS);
      return epoch === world.epoch ? perform({}) : NO_ANSWER;
    case 'stale-read':
      return perform({ asOf: world.clock.now() - (fault.delayMs ?? DEFAULT_STALE_MS) * 1000 });
    case 'partial': {
      const answer = await perform({ firstHalf: true });
      return answer.outcome === 'OK' ? refuse('error') : answer;
    }
    case 'timeout-after-success':
      await perform({});
      return NO_ANSWER;
    case 'fail-later':
      return handlers.failLater ? handlers.failLater() : refuse('error');
    case 'timeout-before':
      return NO_ANSWER;
    case 'html-page':
      return HTML_PAGE;
    case 'oversized':
      return { ...HTML_PAGE, body: HTML_PAGE.body.padEnd(OVERSIZED_BYTES), outcome: 'OVERSIZED' };
    case 'truncated':
      return truncated(await perform({}));
    case 'error-in-success':
      return { ...refuse('error'), status: 200, outcome: 'ERROR_IN_SUCCESS' };
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
