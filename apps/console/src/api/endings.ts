import { serverNow } from './clock';
import { asFailure, isPassing, unreachable } from './failure';
import { Followed } from './followed';

/** A request that ends access: it is repeated until there is an answer, or until the access is over by itself. */
export interface Ending {
  /** what was asked for: "Stop the access of Mia" */
  readonly what: string;
  /** when the access is over by itself; left out: not known */
  readonly until?: string;
  /** what holds while there is no answer; left out: what is open ends by itself */
  readonly meanwhile?: string;
  /** set: it ends the sign-in itself; no other goes on without one */
  readonly isSignOut?: true;
}

/** One without an answer so far; `outcome`: how it was given up. */
interface Unanswered extends Ending {
  readonly outcome: string | null;
}

const TRY_MS = 15_000;
const MAX_PAUSE_MS = 15_000;
const LEFT: Unanswered = {
  what: 'What you were ending',
  outcome: 'not confirmed when the sign-in ended, and not tried again. Sign in to see what is open.',
};

/** What every screen shows. */
export const unanswered = new Followed<readonly Unanswered[]>([]);
/** Aborted when the sign-in ends. */
let signedIn = new AbortController();

/** The browser asks before it leaves what is being repeated. */
const askFirst = (event: Event): void => event.preventDefault();

function show(next: readonly Unanswered[]): void {
  const isAsked = next.some(({ outcome, isSignOut }) => outcome === null && !isSignOut);
  if (isAsked) window.addEventListener('beforeunload', askFirst);
  else window.removeEventListener('beforeunload', askFirst);
  unanswered.set(next);
}

export const dismissEnding = (ending: Unanswered): void =>
  show(unanswered.get().filter((each) => each !== ending));

/**
 * Sends what ends access until it is answered or the access is over; meanwhile every screen shows it.
 * @param send one try: it may follow one that was done and whose answer was lost
 * @param given when aborted, no try follows
 * @returns undefined: the access is over without an answer, or was over already
 * @throws Failure when it is refused
 */
export async function untilAnswered<T>(
  ending: Ending,
  send: (signal: AbortSignal) => Promise<T>,
  given = signedIn.signal,
): Promise<T | undefined> {
  const waiting: Unanswered = { ...ending, outcome: null };
  const isOver = (): boolean => ending.until !== undefined && serverNow() >= Date.parse(ending.until);
  try {
    for (let tries = 1; tries === 1 || !isOver(); tries += 1) {
      const answer = await oneTry(send, given).catch(asFailure);
      if (!(answer instanceof Error)) return answer;
      // the try before was done
      if (tries > 1 && answer.status === 404) break;
      if (given.aborted) throw answer;
      if (!isPassing(answer)) {
        if (tries > 1 || ending.isSignOut)
          show([...unanswered.get(), { ...ending, outcome: `refused. ${answer.message}` }]);
        throw answer;
      }
      if (!unanswered.get().includes(waiting)) show([...unanswered.get(), waiting]);
      await pause(answer.retryAfterMs ?? Math.min(500 * 2 ** tries, MAX_PAUSE_MS), given);
    }
    return undefined;
  } finally {
    if (unanswered.get().includes(waiting)) dismissEnding(waiting);
  }
}

/** A try that hangs is none: the next one follows in time. */
function oneTry<T>(send: (signal: AbortSignal) => Promise<T>, given: AbortSignal): Promise<T> {
  const signal = AbortSignal.any([given, AbortSignal.timeout(TRY_MS)]);
  const hung = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(unreachable(true)));
  });
  return Promise.race([send(signal), hung]);
}

/** Ends early when the network is back, or when nothing is to follow. */
const pause = (ms: number, given: AbortSignal): Promise<void> =>
  new Promise((resume) => {
    setTimeout(resume, ms);
    window.addEventListener('online', () => resume(), { once: true });
    given.addEventListener('abort', () => resume(), { once: true });
  });

/** Without a sign-in nothing can be repeated: what remains says so, and names nothing. */
export function leaveEndings(): void {
  signedIn.abort();
  signedIn = new AbortController();
  const own = unanswered.get().filter(({ isSignOut }) => !isSignOut);
  if (own.length === 0) return;
  const isAnyWaiting = own.some((each) => each.outcome === null || each === LEFT);
  show([...unanswered.get().filter(({ isSignOut }) => isSignOut), ...(isAnyWaiting ? [LEFT] : [])]);
}
