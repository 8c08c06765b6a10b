import {
  ApiFailure,
  bodyOf,
  createApi,
  apiKey as keyCredential,
  isUnprotected,
  type Api,
  type Schemas,
} from '#client';
import { CommandFailure, EXIT } from '../exit-codes';
import type { Output } from '../output';
import { ConfigFile, type Profile, type Tokens } from '../profiles/config-file';
import { isSignedIn, profileName, usableKey, type ConnectionOptions } from '../profiles/connection';
import { serverUrl } from '../profiles/server-url';
import type { Call } from '../program';
import { tokensOf } from '../profiles/signed-in';
import { pasted } from '../terminal/pasted';
import { ask, askCode, firstLine } from '../terminal/prompts';

export interface LoginOptions extends ConnectionOptions {
  readonly url?: string;
  readonly email?: string;
  readonly organization?: string;
  readonly passwordStdin?: boolean;
  readonly apiKeyStdin?: boolean;
}

type LoginAnswer = Schemas['LoginAnswerDto'];

/** Stores a sign-in, or an API key that the server accepts, in the profile. */
export const login = ({ options, output }: Call<LoginOptions>): Promise<void> =>
  signIn(options, output, (url, before) =>
    options.apiKeyStdin ? withKey(url) : withPassword(url, options, before, output),
  );

/** Creates an organization, and stores the sign-in of its first administrator. */
export const register = ({ options, output }: Call<LoginOptions>): Promise<void> =>
  signIn(options, output, async (url) => {
    const organizationName =
      options.organization ?? (await ask('Name of the organization', { fix: 'add --organization' }));
    const { email, password } = await accountOf(options);
    const body = { organizationName, email, password };
    const answer = await bodyOf(createApi({ url, credential: null }).POST('/api/v1/auth/register', { body }));
    output.note(`the slug of the organization is ${answer.user?.organizationSlug}`);
    return { url, email, tokens: tokensIn(answer), ...deviceIn(answer, undefined) };
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

/** Replaces the usual fix of a 401, `drawbridge login`, which is running already. @throws CommandFailure in place of a 401 */
async function orFix<T>(answer: Promise<T>, fix: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 401)) throw error;
    throw new CommandFailure(EXIT.denied, error.message, fix);
  }
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
  const device = known === undefined ? {} : { deviceToken: known };
  const organization = options.organization === undefined ? {} : { organizationSlug: options.organization };
  const body = { email, password, ...device, ...organization };
  const answer = await orFix(
    bodyOf(api.POST('/api/v1/auth/login', { body })),
    `${FORGOTTEN} ${pasted(email)}`,
  );
  const signedIn = answer.mfaRequired ? await secondFactor(api, answer, device) : answer;
  const first = tokensIn(signedIn);
  const tokens = signedIn.mfaSetupRequired ? await withNewFactor(url, email, first, output) : first;
  return { url, email, tokens, ...deviceIn(signedIn, known) };
}

/** Sets up the second factor that the organization requires: until then the sign-in is good for that alone. */
async function withNewFactor(
  url: string,
  email: string,
  { accessToken, refreshToken }: Tokens,
  output: Output,
): Promise<Tokens> {
  output.note('Your organization requires a second factor, and you have none yet');
  const { setUpFactor, recoveryText } = await import('./mfa.js');
  const headers = { Authorization: `Bearer ${accessToken}` };
  const credential = { headers: async () => headers, renew: async () => false };
  const fix = `sign in on a terminal: drawbridge login --url ${url} --email ${pasted(email)}`;
  const recoveryCodes = await setUpFactor(createApi({ url, credential }), fix);
  process.stderr.write(`${recoveryText(recoveryCodes)}\n`);
  const api = createApi({ url, credential: null });
  return tokensOf(await bodyOf(api.POST('/api/v1/auth/refresh', { body: { refreshToken } })));
}

async function secondFactor(
  api: Api,
  { mfaChallengeToken }: LoginAnswer,
  device: { deviceToken?: string },
): Promise<LoginAnswer> {
  const fix = 'sign in on a terminal, or use an API key: drawbridge login --api-key-stdin';
  const challenge = { mfaChallengeToken: mfaChallengeToken ?? '', ...device };
  const verified = askCode('Authenticator or recovery code', fix, (code) =>
    bodyOf(api.POST('/api/v1/auth/verify-mfa', { body: { ...challenge, code } })),
  );
  return orFix(verified, 'drawbridge login, with the next code of the authenticator or a recovery code');
}

function tokensIn(answer: LoginAnswer): ReturnType<typeof tokensOf> {
  const { accessToken, refreshToken, expiresIn } = answer;
  if (accessToken === null || refreshToken === null || expiresIn === null) {
    throw new CommandFailure(
      EXIT.denied,
      'Your password has expired',
      'choose a new one through the link that "forgot password" sends: POST /auth/forgot-password',
    );
  }
  return tokensOf({ accessToken, refreshToken, expiresIn });
}

const deviceIn = (
  { deviceToken }: LoginAnswer,
  known: string | undefined,
): Pick<Profile, 'deviceToken'> | Record<string, never> => {
  const token = deviceToken ?? known;
  return token === undefined ? {} : { deviceToken: token };
};

/** Ends the sign-in, on the server too, and forgets all of it but the server, which the next one is offered. */
export async function logout({ options, output }: Call): Promise<void> {
  const file = new ConfigFile(process.env);
  const name = profileName(options);
  const ended = { profile: null as Profile | null };
  await file.update(name, (current) => {
    ended.profile = current;
    return current && { url: current.url };
  });
  const { profile } = ended;
  if (profile?.tokens) {
    const api = createApi({ url: profile.url, credential: null });
    await api.POST('/api/v1/auth/logout', { body: { refreshToken: profile.tokens.refreshToken } });
  }
  const text = isSignedIn(profile) ? `Signed out of ${profile.url}.` : 'You were not signed in.';
  output.result({ profile: name, url: profile?.url ?? null }, text);
}
