import type { Answer } from '../../harness/api-client';

/** What fetch throws when the other side died, was cut off, or we hung up. */
const LOST = ['TypeError', 'AbortError', 'TimeoutError'];

/** A connection that was opened for a request we hung up on, and timed out when another was about to use it. */
const NEVER_READ = / answered 408, /;

/** By its name: in a test what fetch throws is no instance of the test's own Error. */
function isLostConnection(error: unknown): boolean {
  const { name = '', message = '' } = error as Partial<Error>;
  return LOST.includes(name) || NEVER_READ.test(message);
}

/** The answer, or null when none came: the request may have been carried out, or not. */
export async function unlessUnanswered<T>(answer: Promise<Answer<T>>): Promise<Answer<T> | null> {
  try {
    return await answer;
  } catch (error) {
    if (isLostConnection(error)) return null;
    throw error;
  }
}
