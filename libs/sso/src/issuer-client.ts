import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  customFetch,
  type ExportedJWKSCache,
  fetchUserInfo,
  genericGrantRequest,
  getJwksCache,
  refreshTokenGrant,
} from 'openid-client';
import { isComplete, issuerClaims, type IssuerClaims } from './issuer-claims';
import type { IssuerCheck } from './issuer-demands';
import { IssuerFailure, issuerFailureOf, refusesClient } from './issuer-failure';

/** How this service is registered at an issuer. */
export interface IssuerRegistration {
  /** exactly as in the `iss` claim */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** null: groups are not used */
  readonly groupsClaim: string | null;
}

/** What one sign-in is recognized by. Fresh for each. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** of PKCE */
  readonly codeVerifier: string;
}

/** What an issuer gave for a code or a refresh token. */
export interface IssuerGrant {
  readonly claims: IssuerClaims;
  /** for the next check; null: the issuer gives none */
  readonly refreshToken: string | null;
}

const TRIAL_TIMEOUT_MS = 5000;
/** Of a refresh: an answer that is not waited for may hold the only refresh token that is left. */
const REFRESH_TIMEOUT_MS = 30_000;
/**
 * Between two clocks. Into the past there is no limit besides `exp`: issuers date tokens back (Entra ID by 300 s), and that a
 * token is new is proven by its nonce, or by whom it was asked from.
 */
const MAX_AHEAD_SECONDS = 60;
/** In place of a code and a verifier. */
const MADE_UP = 'a-made-up-text-of-more-than-forty-three-characters';
/** Of the library. */
const BAD_SIGNATURE = 'JWT signature verification failed';
/** What an issuer sends people back with who are not signed in there, asked for no page. */
const NOT_SIGNED_IN = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

/** The keys of an issuer that are known for the next sign-ins. */
interface KnownKeys {
  readonly keep: (keys: ExportedJWKSCache | undefined) => void;
  /** @returns what reads them anew; null: they were read just now */
  readonly forget: () => Configuration | null;
}

/** One issuer, as this service is registered there. */
export class IssuerClient {
  constructor(
    private configuration: Configuration,
    private readonly registration: IssuerRegistration,
    private readonly keys: KnownKeys,
  ) {}

  /** Where a person signs in. @throws IssuerFailure */
  async authorizationUrl(redirectUri: string, { state, nonce, codeVerifier }: SignInSecrets): Promise<URL> {
    try {
      return buildAuthorizationUrl(this.configuration, {
        redirect_uri: redirectUri,
        scope: this.scopes().join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
    } catch (error) {
      throw issuerFailureOf(error);
    }
  }

  /**
   * Exchanges the code of a callback for what the issuer says about the person.
   * @param query of the callback, as it came
   * @throws IssuerFailure unless state, `iss`, nonce, audience and signature are as they must be
   */
  async redeem(
    redirectUri: string,
    query: URLSearchParams,
    { state, nonce, codeVerifier }: SignInSecrets,
  ): Promise<IssuerGrant> {
    const callback = new URL(redirectUri);
    callback.search = query.toString();
    try {
      const tokens = await this.runVerified((configuration) =>
        authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        }),
      );
      const idToken = tokens.claims()!;
      const claims = await this.claimsOf(idToken.sub, idToken, tokens.access_token);
      return { claims, refreshToken: tokens.refresh_token ?? null };
    } catch (error) {
      throw issuerFailureOf(error);
    }
  }

  /**
   * Asks whether the issuer still vouches for a person.
   * @param subject of the person: the answer must be about no other person
   * @param keep called with the new refresh token, null if the one that was used stays valid, before anything that may fail
   * @throws IssuerFailure when it does not, or its answer cannot be used; what `keep` throws
   */
  async refresh(
    refreshToken: string,
    subject: string,
    keep: (newToken: string | null) => Promise<void>,
  ): Promise<IssuerClaims> {
    const send = this.configuration[customFetch]!;
    const faults: Error[] = [];
    this.configuration[customFetch] = async (url, request) => {
      // the only POST is the refresh: keys and userinfo are read
      if (request.method !== 'POST') return send(url, request);
      const answer = await send(url, { ...request, signal: AbortSignal.timeout(REFRESH_TIMEOUT_MS) });
      const newToken = await newTokenIn(answer.clone());
      try {
        if (newToken !== undefined) await keep(newToken);
      } catch (error) {
        faults.push(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
      return answer;
    };
    try {
      const tokens = await this.runVerified((configuration) =>
        refreshTokenGrant(configuration, refreshToken),
      );
      const idToken = tokens.claims() ?? null;
      if (idToken !== null && idToken.sub !== subject)
        throw new IssuerFailure('invalid', 'its answer is about another person');
      return await this.claimsOf(subject, idToken, tokens.access_token);
    } catch (error) {
      throw faults[0] ?? issuerFailureOf(error);
    } finally {
      this.configuration[customFetch] = send;
    }
  }

  /** Whether it would take a sign-in to the redirect URI, as far as that shows without a person. */
  async tryAuthorization(redirectUri: string): Promise<IssuerCheck> {
    const name = 'redirectUri';
    try {
      const url = await this.authorizationUrl(redirectUri, {
        state: 'test',
        nonce: 'test',
        codeVerifier: MADE_UP,
      });
      url.searchParams.set('prompt', 'none');
      const { status, headers } = await this.configuration[customFetch]!(url.href, {
        method: 'GET',
        headers: { accept: 'text/html' },
        body: undefined,
        redirect: 'manual',
        signal: AbortSignal.timeout(TRIAL_TIMEOUT_MS),
      });
      const place = headers.get('location') ?? '';
      if (place.startsWith(`${redirectUri}?`)) {
        const error = new URL(place).searchParams.get('error');
        if (error === null || NOT_SIGNED_IN.includes(error))
          return { name, ok: true, message: 'it knows the client ID and the redirect URI' };
        const code = /^[a-z_]{1,40}$/.test(error) ? error : 'an error';
        return { name, ok: false, message: `it refuses a sign-in with ${code}` };
      }
      if (status === 400 || status === 404)
        return {
          name,
          ok: false,
          message: `it refuses a sign-in (${status}): compare client ID and redirect URI with what is registered there`,
        };
    } catch {
      // a long page, for example
    }
    const message = 'it does not show whether it knows the redirect URI: a sign-in does';
    return { name, ok: true, message };
  }

  /** What it says to a code that it has not issued: many look at the client first. */
  async trySecret(redirectUri: string): Promise<IssuerCheck> {
    const name = 'client';
    const given = { code: MADE_UP, redirect_uri: redirectUri, code_verifier: MADE_UP };
    try {
      await genericGrantRequest(this.configuration, 'authorization_code', given);
    } catch (error) {
      const { kind, message } = issuerFailureOf(error);
      if (refusesClient(error) || kind === 'unreachable') return { name, ok: false, message };
    }
    return { name, ok: true, message: 'it has not refused the client ID and its secret with a made-up code' };
  }

  /**
   * Runs a grant whose ID token is verified; with the same answer and keys that are read anew, when its signature is by none that
   * is known: an issuer that was restored may have another key under the name of the former one.
   */
  private async runVerified<T>(grant: (configuration: Configuration) => Promise<T>): Promise<T> {
    const { configuration } = this;
    const send = configuration[customFetch]!;
    let answer: Response | null = null;
    configuration[customFetch] = async (url, request) => {
      const response = await send(url, request);
      if (request.method === 'POST') answer = response.clone();
      return response;
    };
    try {
      return await grant(configuration);
    } catch (error) {
      const anew = isBadSignature(error) ? this.keys.forget() : null;
      if (anew === null) throw error;
      const read = anew[customFetch]!;
      anew[customFetch] = (url, request) =>
        request.method === 'POST' ? Promise.resolve(answer!) : read(url, request);
      this.configuration = anew;
      return await grant(anew);
    } finally {
      configuration[customFetch] = send;
    }
  }

  private async claimsOf(
    subject: string,
    idToken: Readonly<Record<string, unknown>> | null,
    accessToken: string,
  ): Promise<IssuerClaims> {
    const { clientId, groupsClaim } = this.registration;
    this.keys.keep(getJwksCache(this.configuration));
    if (idToken !== null) refuseUnfit(idToken, clientId);
    const isAsked =
      this.configuration.serverMetadata().userinfo_endpoint !== undefined &&
      (idToken === null || !isComplete(idToken, groupsClaim));
    if (!isAsked) return issuerClaims(subject, idToken, null, groupsClaim);
    try {
      const userinfo = await fetchUserInfo(this.configuration, accessToken, subject);
      return issuerClaims(subject, idToken, userinfo, groupsClaim);
    } catch (error) {
      // it adds to what the issuer has vouched for already
      const missing = `its userinfo cannot be read: ${issuerFailureOf(error).message}`;
      return issuerClaims(subject, idToken, null, groupsClaim, missing);
    }
  }

  /** A refresh token and groups are asked for where the issuer has a scope for them. */
  private scopes(): string[] {
    const { scopes_supported: supported = [] } = this.configuration.serverMetadata();
    const wanted = ['offline_access', ...(this.registration.groupsClaim === null ? [] : ['groups'])];
    return ['openid', 'profile', 'email', ...wanted.filter((scope) => supported.includes(scope))];
  }
}

/** The refresh token in the answer of a token endpoint; null: there is none. undefined: it is not one that grants anything. */
async function newTokenIn(answer: Response): Promise<string | null | undefined> {
  const body = (await answer.json().catch(() => null)) as Readonly<Record<string, unknown>> | null;
  if (!answer.ok || typeof body?.['access_token'] !== 'string') return undefined;
  const token = body['refresh_token'];
  return typeof token === 'string' ? token : null;
}

/** @throws IssuerFailure for what OpenID Connect demands and the library does not check */
function refuseUnfit({ azp, iat }: Readonly<Record<string, unknown>>, clientId: string): void {
  if (azp !== undefined && azp !== clientId)
    throw new IssuerFailure('invalid', 'its ID token was issued to another client');
  if (Number(iat) > seconds() + MAX_AHEAD_SECONDS)
    throw new IssuerFailure('invalid', 'its ID token was issued in the future: compare the clocks');
}

function isBadSignature(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.message === BAD_SIGNATURE) return true;
  return false;
}

const seconds = (): number => Math.floor(Date.now() / 1000);
