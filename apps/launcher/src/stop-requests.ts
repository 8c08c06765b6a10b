const SAME_REQUEST_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Listens for wishes to end: a signal, or the end of the program that started this one. npm passes a terminal's Ctrl-C
 * on, so that it comes twice: within half a second it is one wish.
 * @param first called with the first wish @param second called with every later one
 */
export function onStopRequest(first: () => void, second: () => void): void {
  let askedAt: number | null = null;
  const ask = (): void => {
    const now = performance.now();
    if (askedAt === null) {
      askedAt = now;
      first();
    } else if (now - askedAt > SAME_REQUEST_MS) second();
  };
  for (const name of SIGNALS) process.on(name, ask);
  process.on('disconnect', ask);
}
