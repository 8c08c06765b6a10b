import { setTimeout as pause } from 'node:timers/promises';
import { NO_ANSWER, type CloudAnswer, type World } from '../provider';
import type { ActiveFault, FaultKind, FaultScope } from './fault-script';

/** How a call is carried out when a fault bends it. */
export interface Performance {
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

/** A call in the provider's own terms: doing it, and refusing it. */
export interface Performer {
  perform(how: Performance): CloudAnswer | Promise<CloudAnswer>;
  refuse(why: Refusal): CloudAnswer;
  /** Accepts a write that fails while it is carried out; left out: it has failed when it is answered. */
  failLater?(): CloudAnswer | Promise<CloudAnswer>;
}

const isRefusal = (kind: FaultKind): kind is Refusal => REFUSALS.some((refusal) => refusal === kind);

/** What a proxy on the way answers in the provider's place. */
const HTML_PAGE: CloudAnswer = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><html><head><title>One moment</title></head><body><p>Back soon.</body></html>',
  outcome: 'HTML_PAGE',
};

/** Longer than any honest answer. */
const OVERSIZED_BYTES = 12_000_000;

const DEFAULT_SLOW_MS = 5000;
const DEFAULT_STALE_MS = 5000;

/**
 * Carries out a call, or plays the fault that hits it. A call from before a reset is left unanswered and undone.
 * @param epoch the world's epoch when the call arrived
 * @returns the provider's answer, or NO_ANSWER when the client is to be left waiting
 */
export async function playFault(
  world: World,
  epoch: number,
  call: FaultScope,
  performer: Performer,
): Promise<CloudAnswer | typeof NO_ANSWER> {
  if (epoch !== world.epoch) return NO_ANSWER;
  const fault = world.faults.take(call);
  if (!fault) return performer.perform({});
  if (isRefusal(fault.kind)) return withRetryAfter(performer.refuse(fault.kind), fault);
  switch (fault.kind) {
    case 'slow':
      await pause(fault.delayMs ?? DEFAULT_SLOW_MS);
      return epoch === world.epoch ? performer.perform({}) : NO_ANSWER;
    case 'stale-read':
      return performer.perform({ asOf: world.clock.now() - (fault.delayMs ?? DEFAULT_STALE_MS) * 1000 });
    case 'partial': {
      const answer = await performer.perform({ firstHalf: true });
      return answer.outcome === 'OK' ? performer.refuse('error') : answer;
    }
    case 'timeout-after-success':
      await performer.perform({});
      return NO_ANSWER;
    case 'fail-later':
      return performer.failLater ? performer.failLater() : performer.refuse('error');
    case 'timeout-before':
      return NO_ANSWER;
    case 'html-page':
      return HTML_PAGE;
    case 'oversized':
      return { ...HTML_PAGE, body: HTML_PAGE.body.padEnd(OVERSIZED_BYTES), outcome: 'OVERSIZED' };
    case 'truncated':
      return truncated(await performer.perform({}));
    case 'error-in-success':
      return { ...performer.refuse('error'), status: 200, outcome: 'ERROR_IN_SUCCESS' };
  }
  return fault.kind satisfies never;
}

function withRetryAfter(answer: CloudAnswer, { kind, delayMs }: ActiveFault): CloudAnswer {
  if (kind !== 'throttle' || delayMs === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(Math.ceil(delayMs / 1000)) } };
}

/** The first half of an answer, as if that were all of it. */
const truncated = (answer: CloudAnswer): CloudAnswer => ({
  ...answer,
  body: answer.body.slice(0, answer.body.length / 2),
  outcome: 'TRUNCATED',
});
