const DEBOUNCE_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Handles stop requests: a signal, or the exit of the parent process. npm forwards a terminal's Ctrl-C, so that it
 * arrives twice: requests within half a second of the first one are ignored.
 * @param first called for the first request @param second called for every later one
 */
export function onStopRequest(first: () => void, second: () => void): void {
  let requestedAt: number | null = null;
  const request = (): void => {
    const now = performance.now();
    if (requestedAt === null) {
      requestedAt = now;
      first();
    } else if (now - requestedAt > DEBOUNCE_MS) second();
  };
  for (const name of SIGNALS) process.on(name, request);
  process.on('disconnect', request);
}
