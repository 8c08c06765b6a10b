import { createContext, Script } from 'node:vm';

const SMALL = 1000;
const FACTOR = 64;
const LARGE = SMALL * FACTOR;
/**
 * Linear work grows by FACTOR, and three times that where the long text outgrows a cache or the young generation.
 * Quadratic work grows by FACTOR squared: the limit lies between, four times away from both.
 */
const LIMIT = FACTOR * 12;
const RUNS = 7;
/** Work that takes less for the short text is not told from noise: quadratic work takes seconds for the long one. */
const LEAST_MS = 0.05;
/** Nothing linear takes this long for the long text, on any machine: it is not measured again. */
const SURE_MS = 1000;
/** Timeout of work that never ends, so that the test can name it. */
const TIMEOUT_MS = 5000;

/** Growth of the time for a text that is FACTOR times as long. */
export interface Growth {
  readonly ratio: number;
  readonly isLinear: boolean;
}

/**
 * Compares the time that two texts of one shape take. Both are measured in this run, relative to each other and to a
 * plain scan of the shorter text, independent of the machine's speed. A steep result is measured again, and the fastest
 * run of each counts: compilation and collection only slow work down.
 */
export function growthOf(work: (text: string) => unknown, textOf: (length: number) => string): Growth {
  const small = textOf(SMALL);
  const large = textOf(LARGE);
  const never = { ratio: Infinity, isLinear: false };
  // the first run of an expression is interpreted, the next ones are compiled
  if (!ends(work, small)) return never;
  const floor = Math.max(LEAST_MS, fastest(scan, small, 3));
  let base = Math.max(floor, fastest(work, small, 3));
  if (!ends(work, large)) return never;
  let least = timeOf(work, large);
  for (let run = 0; run < RUNS && least > base * LIMIT && least < SURE_MS; run += 1) {
    base = Math.max(base, floor, fastest(work, small, RUNS));
    least = Math.min(least, timeOf(work, large));
  }
  return { ratio: least / base, isLinear: least <= base * LIMIT };
}

const sandbox = createContext({ call: (): void => undefined });
const script = new Script('call()');

/** Whether the work ends in time: catastrophic backtracking is interrupted. */
function ends(work: (text: string) => unknown, text: string): boolean {
  sandbox['call'] = () => timeOf(work, text);
  try {
    script.runInContext(sandbox, { timeout: TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

function fastest(work: (text: string) => unknown, text: string, runs: number): number {
  return Math.min(...Array.from({ length: runs }, () => timeOf(work, text)));
}

/** The processor's time in milliseconds: a clock would count what else the machine does in the meantime. */
function timeOf(work: (text: string) => unknown, text: string): number {
  const from = process.cpuUsage();
  try {
    work(text);
  } catch {
    // a refusal is an answer: only its time counts
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/** Reads each character once. */
function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
  return sum;
}
