const INTERVAL_MS = 60_000;

/** Reports the first of many, and then one a minute: a queue that is out of reach fails each attempt of everything that uses it. */
export function onceAMinute<Given extends unknown[]>(
  report: (...given: Given) => void,
  clock: { now(): number } = performance,
): (...given: Given) => void {
  let last = -Infinity;
  return (...given) => {
    const now = clock.now();
    if (now - last < INTERVAL_MS) return;
    last = now;
    report(...given);
  };
}
