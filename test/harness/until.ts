const FIRST_PAUSE_MS = 25;
/** What takes seconds is asked less often: polls of many suites at once keep the processors from what they wait for. */
const LONGEST_PAUSE_MS = 200;
const GROWTH = 1.25;
/** Far longer than any condition takes: a busy machine is no failure, and an early result costs nothing. */
const TIMEOUT_MS = 120_000;

/**
 * Polls until a condition holds.
 * @param what the condition, for the error: "the session is ACTIVE"; a function may say what there was instead
 * @param poll returns the awaited thing, or null/undefined/false while it is not there
 */
export async function until<T>(
  what: string | (() => string),
  poll: () => Promise<T | null | undefined | false>,
  withinMs = TIMEOUT_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    const found = await poll();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline)
      throw new Error(`Not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
