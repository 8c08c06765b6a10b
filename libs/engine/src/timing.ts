/** Time and chance, as this process has them. What is decided for everybody is decided on the database's clock. */
export interface Timing {
  /** milliseconds since some moment; never goes back */
  now(): number;
  wait(ms: number): Promise<void>;
  /** Runs something again and again. @returns what ends that */
  every(ms: number, run: () => void): () => void;
  /** 0 (inclusive) to 1 (exclusive) */
  random(): number;
}

/** The clock and the chance of the machine. */
export const MACHINE_TIMING: Timing = {
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
  random: () => Math.random(),
};
