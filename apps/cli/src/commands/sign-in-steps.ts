import { type Api, ApiFailure, bodyOf, createApi, definedFields, type Schemas } from '#client';
import { CommandFailure, EXIT } from '../exit-codes';
import type { Output } from '../output';
import type { Profile, Tokens } from '../profiles/config-file';
import type { ConnectionOptions } from '../profiles/connection';
import { tokensOf } from '../profiles/signed-in';
import { askCode } from '../terminal/prompts';

export interface LoginOptions extends ConnectionOptions {
  readonly url?: string;
  readonly email?: string;
  readonly organization?: string;
  readonly passwordStdin?: boolean;
  readonly apiKeyStdin?: boolean;
  /** the organization's slug; true: that of the last sign-in, or asked for */
  readonly sso?: string | true;
  readonly provider?: string;
  /** false: whatever there is, none is opened */
  readonly browser?: boolean;
}

type LoginAnswer = Schemas['LoginAnswerDto'];

/** A device is known to the server and the account it has signed in to. */
export interface KnownDevice {
  readonly deviceToken?: string;
}

type Stored = Required<Pick<Profile, 'tokens'>> & Pick<Profile, 'deviceToken'>;

/**
 * What follows the first step of any sign-in: the second factor, or its set-up.
 * @param known.again the command that begins it anew
 * @returns what is kept of it
 */
export async function finishSignIn(
  url: string,
  answer: LoginAnswer,
  device: KnownDevice,
  { again, output }: { again: string; output: Output },
): Promise<Stored & { readonly email: string }> {
  const api = createApi({ url, credential: null });
  const signedIn = answer.mfaRequired ? await secondFactor(api, answer, device) : answer;
  const kept = stored(signedIn, device);
  const tokens = signedIn.mfaSetupRequired
    ? await withNewFactor(url, again, kept.tokens, output)
    : kept.tokens;
  return { ...kept, tokens, email: signedIn.user!.email };
}

/** @throws CommandFailure for an expired password */
export const stored = (answer: LoginAnswer, device: KnownDevice): Stored => {
  const deviceToken = answer.deviceToken ?? device.deviceToken;
  return { tokens: tokensIn(answer), ...definedFields({ deviceToken }) };
};

/** Sets up the second factor that the organization requires: until then the sign-in is good for that alone. */
async function withNewFactor(
  url: string,
  again: string,
  { accessToken, refreshToken }: Tokens,
  output: Output,
): Promise<Tokens> {
  output.note('Your organization requires a second factor, and you have none yet');
  const { setUpFactor, recoveryText } = await import('./mfa.js');
  const headers = { Authorization: `Bearer ${accessToken}` };
  const credential = { headers: async () => headers, renew: async () => false };
  const fix = `sign in on a terminal: ${again}`;
  const recoveryCodes = await setUpFactor(createApi({ url, credential }), fix);
  process.stderr.write(`${recoveryText(recoveryCodes)}\n`);
  const api = createApi({ url, credential: null });
  return tokensOf(await bodyOf(api.POST('/api/v1/auth/refresh', { body: { refreshToken } })));
}

async function secondFactor(
  api: Api,
  { mfaChallengeToken }: LoginAnswer,
  device: KnownDevice,
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

/** Replaces the usual fix of a 401, `drawbridge login`, which is running already. @throws CommandFailure in place of a 401 */
export async function orFix<T>(answer: Promise<T>, fix: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 401)) throw error;
    throw new CommandFailure(EXIT.denied, error.message, fix);
  }
}
