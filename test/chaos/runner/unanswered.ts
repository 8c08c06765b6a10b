import type { Answer } from '../../harness/product/api-client';

/** Errors of fetch when the server was killed or disconnected, or the client aborted. */
const LOST_CONNECTION_ERRORS = ['TypeError', 'AbortError', 'TimeoutError'];

/** A connection of an aborted request timed out on the server, and was then reused. */
const REUSED_AFTER_TIMEOUT = / answered 408, /;

/** Compares names: fetch has no class of its own for each. */
function isLostConnection(error: unknown): boolean {
  const { name = '', message = '' } = error as Partial<Error>;
  return LOST_CONNECTION_ERRORS.includes(name) || REUSED_AFTER_TIMEOUT.test(message);
}

/** The answer; null without one: the request may have been executed. */
export async function unlessUnanswered<T>(answer: Promise<Answer<T>>): Promise<Answer<T> | null> {
  try {
    return await answer;
  } catch (error) {
    if (isLostConnection(error)) return null;
    throw error;
  }
}
