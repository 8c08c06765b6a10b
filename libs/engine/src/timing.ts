/** Clock, timers and randomness of this process. Decisions shared by all processes use the database clock. */
export interface Timing {
  /** monotonic, ms */
  now(): number;
  wait(ms: number): Promise<void>;
  /** Runs a function periodically. @returns a function that stops it */
  every(ms: number, run: () => void): () => void;
  /** 0 (inclusive) to 1 (exclusive) */
  random(): number;
}

/** The real clock and random source. */
export const MACHINE_TIMING: Timing = {
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
  random: () => Math.random(),
};
