const POLL_MS = 25;
/** Far longer than anything takes: a busy machine is no failure, and what comes in time costs nothing. */
const PATIENCE_MS = 45_000;

/**
 * Waits for a condition, not for a time.
 * @param what the sentence of the failure: "the session is ACTIVE"
 * @param look returns the awaited thing, or null/undefined/false while it is not there
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
