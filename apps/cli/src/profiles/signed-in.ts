import { ApiFailure, bodyOf, createApi, type Credential } from '#client';
import { CommandFailure, EXIT } from '../exit-codes';
import type { ConfigFile, Profile, Tokens } from './config-file';

/** A token that ends this soon is not sent: it could end on the way. */
const MARGIN_MS = 30_000;
const REFRESH_TIMEOUT_MS = 10_000;

/**
 * The tokens of a profile. They are refreshed under the lock of the file: a refresh token can be used once, and every
 * process of the user shares it.
 */
export class SignedIn implements Credential {
  private sent: string | null = null;

  constructor(
    private readonly file: ConfigFile,
    private readonly name: string,
    private readonly url: string,
  ) {}

  async headers(): Promise<Readonly<Record<string, string>>> {
    this.sent = await this.accessToken(MARGIN_MS);
    return { Authorization: `Bearer ${this.sent}` };
  }

  /** @param forMs how long it is valid at least */
  async accessToken(forMs: number): Promise<string> {
    const isEnough = ({ expiresAt }: Tokens): boolean => expiresAt > Date.now() + forMs;
    const tokens = this.file.profile(this.name)?.tokens;
    return (tokens && isEnough(tokens) ? tokens : await this.refresh(isEnough)).accessToken;
  }

  async renew(): Promise<boolean> {
    await this.refresh(
      ({ accessToken, expiresAt }) => accessToken !== this.sent && expiresAt > Date.now() + MARGIN_MS,
    );
    return true;
  }

  /** @param isEnough whether the tokens in the file, which another process may have refreshed meanwhile, will do */
  private async refresh(isEnough: (current: Tokens) => boolean): Promise<Tokens> {
    const profile = await this.file.update(this.name, async (current) => {
      if (!current?.tokens) throw signedOut(current);
      if (isEnough(current.tokens)) return current;
      return { ...current, tokens: await this.exchange(current, current.tokens) } satisfies Profile;
    });
    if (!profile?.tokens) throw signedOut(profile);
    return profile.tokens;
  }

  private async exchange(profile: Profile, { refreshToken }: Tokens): Promise<Tokens> {
    const api = createApi({ url: this.url, credential: null });
    const signal = AbortSignal.timeout(REFRESH_TIMEOUT_MS);
    try {
      return tokensOf(await bodyOf(api.POST('/api/v1/auth/refresh', { body: { refreshToken }, signal })));
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) throw signedOut(profile);
      throw error;
    }
  }
}

/** @param answer of a sign-in or a refresh that asked for no cookie; `expiresIn` in seconds */
export const tokensOf = (answer: {
  accessToken: string;
  refreshToken: string | null;
  expiresIn: number;
}): Tokens => ({
  accessToken: answer.accessToken,
  refreshToken: answer.refreshToken!,
  expiresAt: Date.now() + 1000 * answer.expiresIn,
});

const signedOut = (profile: Profile | null): CommandFailure => {
  const again = profile?.organization === undefined ? 'drawbridge login' : 'drawbridge login --sso';
  return new CommandFailure(EXIT.denied, 'Your sign-in has ended', again);
};
