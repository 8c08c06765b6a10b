import {
  ApiFailure,
  apiKey as keyCredential,
  bodyOf,
  createApi,
  definedFields,
  isUnprotected,
} from '#client';
import { endingToo, STOP_TIMEOUT_MS } from '../access/closing';
import type { Output } from '../output';
import { ConfigFile, type Profile } from '../profiles/config-file';
import { isSignedIn, profileName, usableKey } from '../profiles/connection';
import { serverUrl } from '../profiles/server-url';
import type { Call } from '../program';
import { pasted } from '../terminal/pasted';
import { ask, firstLine } from '../terminal/prompts';
import { timeText } from '../terminal/times';
import { finishSignIn, type LoginOptions, orFix, stored } from './sign-in-steps';

/** Stores a sign-in, or an API key that the server accepts, in the profile. */
export const login = ({ options, output }: Call<LoginOptions>): Promise<void> =>
  signIn(options, output, async (url, before) => {
    if (options.apiKeyStdin) return withKey(url);
    if (options.sso === undefined) return withPassword(url, options, before, output);
    return (await import('./company-sign-in.js')).withCompany(url, options, before, output);
  });

/** Creates an organization, and stores the sign-in of its first administrator. */
export const register = ({ options, output }: Call<LoginOptions>): Promise<void> =>
  signIn(options, output, async (url) => {
    const organizationName =
      options.organization ?? (await ask('Name of the organization', { fix: 'add --organization' }));
    const { email, password } = await accountOf(options);
    const body = { organizationName, email, password };
    const answer = await bodyOf(createApi({ url, credential: null }).POST('/api/v1/auth/register', { body }));
    output.note(`the short name of the organization is ${answer.user?.organizationSlug}`);
    return { url, email, ...stored(answer, {}) };
  });

async function signIn(
  options: LoginOptions,
  output: Output,
  profileAt: (url: string, before: Profile | null) => Promise<Profile>,
): Promise<void> {
  const file = new ConfigFile(process.env);
  const name = profileName(options);
  const before = file.profile(name);
  const chosen = options.url ?? (process.env['DRAWBRIDGE_URL'] || undefined);
  const given = chosen ?? before?.url;
  // that of the last sign-in
  if (chosen === undefined && given !== undefined)
    output.note(`signing in at ${given}; --url chooses another server`);
  const fix = 'add --url https://drawbridge.example.com';
  const url = serverUrl(given ?? (await ask('Server', { fix })), '--url');
  if (isUnprotected(url)) output.note(`${url} is not encrypted: your password can be read on the network`);
  const profile = await profileAt(url, before);
  await file.update(name, () => profile);
  const who = profile.email ?? 'an API key';
  output.result({ profile: name, url, email: profile.email ?? null }, `Signed in at ${url} with ${who}.`);
  if (process.env['DRAWBRIDGE_API_KEY'])
    output.note('DRAWBRIDGE_API_KEY is set, and comes before this profile');
}

async function accountOf(options: LoginOptions): Promise<{ email: string; password: string }> {
  const email = options.email ?? (await ask('E-mail', { fix: 'add --email' }));
  const password = options.passwordStdin
    ? await firstLine('the password')
    : await ask('Password', { secret: true, fix: 'add --password-stdin' });
  return { email, password };
}

async function withKey(url: string): Promise<Profile> {
  const key = usableKey(await firstLine('the API key'), 'Standard input')!;
  try {
    const api = createApi({ url, credential: keyCredential(key) });
    const fix = 'check that all of the key is given, and that it is one of this server';
    await orFix(api.GET('/api/v1/sessions', { params: { query: { size: 1 } } }), fix);
  } catch (error) {
    // a key without this scope is a key all the same
    if (!(error instanceof ApiFailure && error.status === 403)) throw error;
  }
  return { url, apiKey: key };
}

const FORGOTTEN = 'check both; for a new password an administrator runs: drawbridge users password-link';

async function withPassword(
  url: string,
  options: LoginOptions,
  before: Profile | null,
  output: Output,
): Promise<Profile> {
  const { email, password } = await accountOf(options);
  const api = createApi({ url, credential: null });
  // a device is known to the server and the account it has signed in to
  const known = before?.url === url && before.email === email ? before.deviceToken : undefined;
  const device = definedFields({ deviceToken: known });
  const body = { email, password, ...device, ...definedFields({ organizationSlug: options.organization }) };
  const answer = await orFix(
    bodyOf(api.POST('/api/v1/auth/login', { body })),
    `${FORGOTTEN} ${pasted(email)}`,
  );
  const again = `drawbridge login --url ${url} --email ${pasted(email)}`;
  return { url, ...(await finishSignIn(url, answer, device, { again, output })), email };
}

const DAY_MS = 24 * 3_600_000;

/** Ends the sign-in, on the server too, and forgets all of it but where it was. */
export async function logout({ options, output }: Call): Promise<void> {
  const file = new ConfigFile(process.env);
  const name = profileName(options);
  const ended = { profile: null as Profile | null };
  await file.update(name, (current) => {
    ended.profile = current;
    // the next sign-in is offered both
    return current && { url: current.url, ...definedFields({ organization: current.organization }) };
  });
  const { profile } = ended;
  if (profile?.tokens) {
    const { url, tokens } = profile;
    const api = createApi({ url, credential: null, patienceMs: STOP_TIMEOUT_MS });
    const body = { refreshToken: tokens.refreshToken };
    const request = {
      path: '/api/v1/auth/logout',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    await endingToo(api.POST('/api/v1/auth/logout', { body }), output, {
      remaining: () => ({ url, requests: [request], withinMs: DAY_MS }),
      ends: `here the sign-in is forgotten, and its access token ends at ${timeText(new Date(tokens.expiresAt), Date.now())}`,
    });
  }
  const text = isSignedIn(profile) ? `Signed out of ${profile.url}.` : 'You were not signed in.';
  output.result({ profile: name, url: profile?.url ?? null }, text);
}
