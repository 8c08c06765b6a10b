import type { components } from '#client/schema';
import { leaveEndings, untilAnswered, type Ending } from './endings';
import { failureOf, type Failure } from './failure';
import { Followed } from './followed';
import { reach } from './reach';

type LoginAnswer = components['schemas']['LoginAnswerDto'];
type RefreshAnswer = components['schemas']['RefreshAnswerDto'];

/** The sign-in of this tab. The access token is kept in memory, the refresh token in a cookie that no script reads. */
export type SignIn =
  | { readonly state: 'unknown' }
  | { readonly state: 'out'; readonly reason: string | null }
  | {
      readonly state: 'in';
      readonly accessToken: string;
      readonly expiresAt: number;
      /** the organization requires a second factor: nothing else is open until it is set up */
      readonly setupRequired: boolean;
    };

/** The server accepts the cookie only with this header, which no other site can send. */
export const CONSOLE_HEADER = { 'X-Drawbridge-Console': '1' };

const IDLE_LIMIT_MS = 12 * 3_600_000;
/** An access token that ends sooner is replaced before it is used. */
const EXPIRY_MARGIN_MS = 30_000;
const DEVICE_TOKEN = 'drawbridge-device';
/** That this browser has the cookie, which no script sees: without it, nothing is asked. */
const HAS_COOKIE = 'drawbridge-signed-in';
/** That the server has not confirmed yet that the cookie of this browser has ended: until it is a new one, it is not used. */
const SIGNING_OUT = 'drawbridge-signing-out';
/** When a tab of this browser was last touched. */
const LAST_ACTIVITY = 'drawbridge-last-activity';

const SIGN_OUT: Ending = {
  isSignOut: true,
  what: 'Sign out',
  meanwhile:
    'This browser has forgotten who was signed in; on the server, the sign-in counts until it answers.',
};

export const signIn = new Followed<SignIn>({ state: 'unknown' });
let signingOut = new AbortController();
let refreshing: Promise<boolean> | null = null;

function become(next: SignIn): void {
  if (next.state === 'in') localStorage.setItem(HAS_COOKIE, 'yes');
  if (next.state === 'out') {
    localStorage.removeItem(HAS_COOKIE);
    leaveEndings();
  }
  signIn.set(next);
}

/** The cookie of the sign-in that ends is another one now, or gone. */
function stopSigningOut(): void {
  localStorage.removeItem(SIGNING_OUT);
  signingOut.abort();
  signingOut = new AbortController();
}

/** Takes the tokens of an answer. Answers without tokens are further steps of a sign-in: they change nothing. */
export function acceptTokens(answer: LoginAnswer | RefreshAnswer): void {
  const { accessToken: token, expiresIn } = answer;
  if (token === null || expiresIn === null) return;
  stopSigningOut();
  if ('deviceToken' in answer && answer.deviceToken) localStorage.setItem(DEVICE_TOKEN, answer.deviceToken);
  const expiresAt = Date.now() + expiresIn * 1000;
  become({ state: 'in', accessToken: token, expiresAt, setupRequired: answer.mfaSetupRequired });
}

/** Names this browser to the lock of an account, which spares browsers that signed in before. Not a credential. */
export const deviceToken = (): { deviceToken?: string } => {
  const known = localStorage.getItem(DEVICE_TOKEN);
  return known === null ? {} : { deviceToken: known };
};

/**
 * A valid access token, refreshed first if it is about to end.
 * @returns null when the user is signed out
 */
export async function accessToken(): Promise<string | null> {
  const before = signIn.get();
  if (before.state === 'in' && before.expiresAt - Date.now() > EXPIRY_MARGIN_MS) return before.accessToken;
  if (before.state === 'out' || !(await refresh())) return null;
  // refreshed meanwhile
  const now = signIn.get();
  return now.state === 'in' ? now.accessToken : null;
}

/** Finds out whether this browser is signed in. */
export async function resume(): Promise<void> {
  if (isSigningOut()) void endSignIn();
  if (localStorage.getItem(HAS_COOKIE) === null) become({ state: 'out', reason: null });
  else await refresh();
}

/** Exchanges the cookie, or a one-time token, for an access token. @returns false when the sign-in has ended */
export function refresh(oneTimeToken?: string): Promise<boolean> {
  refreshing ??= inTurn(() => exchange(oneTimeToken)).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

/** One tab after the other: they share the cookie, and each exchange replaces it. */
function inTurn<T>(task: () => Promise<T>): Promise<T> {
  // only pages from https and from this machine have locks; the server bears two exchanges at once
  return 'locks' in navigator ? navigator.locks.request('drawbridge-refresh', task) : task();
}

const isSigningOut = (): boolean => localStorage.getItem(SIGNING_OUT) !== null;

async function exchange(oneTimeToken?: string): Promise<boolean> {
  const given = oneTimeToken === undefined ? {} : { refreshToken: oneTimeToken };
  const response = await post('/api/v1/auth/refresh', { ...given, refreshTokenIn: 'cookie' });
  if (response.ok) {
    // signed out meanwhile, in this tab or in another
    if (oneTimeToken === undefined && isSigningOut()) return false;
    acceptTokens((await response.json()) as RefreshAnswer);
    return true;
  }
  const failure = await failureOf(response);
  if (!isEnd(failure)) throw failure;
  // a request that was under way when one signed out takes no reason away
  const now = signIn.get();
  const before = now.state === 'out' ? now.reason : null;
  become({ state: 'out', reason: now.state === 'in' ? 'Your sign-in has ended. Sign in again.' : before });
  return false;
}

/** A limit or a failure of the server is no sign-out. */
const isEnd = ({ status }: Failure): boolean => status >= 400 && status < 500 && status !== 429;

/**
 * Ends the sign-in: here at once, and on the server as soon as it answers, also after the page was loaded again.
 * @param reason shown on the next screen
 */
export function signOut(reason: string | null = null): Promise<void> {
  localStorage.setItem(SIGNING_OUT, 'yes');
  become({ state: 'out', reason });
  return endSignIn();
}

async function logOut(signal: AbortSignal): Promise<void> {
  const response = await post('/api/v1/auth/logout', {}, signal);
  // without a cookie the sign-in has ended already
  if (!response.ok && response.status !== 401) throw await failureOf(response);
  localStorage.removeItem(SIGNING_OUT);
}

/** Ends when it was answered, or when nothing is to be ended any more. */
const endSignIn = (): Promise<void> =>
  untilAnswered(SIGN_OUT, (signal) => inTurn(() => logOut(signal)), signingOut.signal).catch(() => undefined);

/** A request that hangs keeps all that need a token waiting. */
const TIMEOUT_MS = 30_000;

function post(path: string, body: object, signal = AbortSignal.timeout(TIMEOUT_MS)): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...CONSOLE_HEADER };
  // it changes nothing that a screen shows
  return reach(new Request(path, { method: 'POST', headers, body: JSON.stringify(body), signal }), false);
}

const touch = (): void => localStorage.setItem(LAST_ACTIVITY, String(Date.now()));

function checkActivity(): void {
  const idleMs = Date.now() - Number(localStorage.getItem(LAST_ACTIVITY));
  if (signIn.get().state !== 'in' || idleMs < IDLE_LIMIT_MS) return;
  const reason = 'You were signed out after twelve hours without activity.';
  void signOut(reason);
}

/** Signs out who has touched no tab for twelve hours. */
export function watchActivity(): void {
  touch();
  for (const event of ['pointerdown', 'keydown']) window.addEventListener(event, touch, { passive: true });
  setInterval(checkActivity, 60_000);
  // a machine that slept runs no timers
  document.addEventListener('visibilitychange', checkActivity);
}

/** A sign-out in one tab is one in all. */
export function watchOtherTabs(): void {
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === SIGNING_OUT && newValue === null) stopSigningOut();
    if (key !== HAS_COOKIE || newValue !== null || signIn.get().state !== 'in') return;
    become({ state: 'out', reason: 'You were signed out in another tab.' });
  });
}
