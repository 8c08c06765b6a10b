import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  type CustomFetch,
  discovery,
  enableNonRepudiationChecks,
  type ExportedJWKSCache,
  fetchUserInfo,
  getJwksCache,
  refreshTokenGrant,
  type ServerMetadata,
  setJwksCache,
} from 'openid-client';
import { InternalHosts, TenantHosts, type TenantNetwork } from '#drivers';
import { isComplete, issuerClaims, type IssuerClaims } from './issuer-claims';
import { IssuerFailure, issuerFailureOf } from './issuer-failure';
import { tenantFetch } from './tenant-fetch';

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

const TIMEOUT_SECONDS = 5;
/** Of a refresh: an answer that is not waited for may hold the only refresh token that is left. */
const REFRESH_TIMEOUT_MS = 30_000;
const CACHED_MS = 10 * 60_000;
const MAX_CACHED = 500;
/**
 * Between two clocks. Into the past there is no limit besides `exp`: issuers date tokens back (Entra ID by 300 s), and that a
 * token is new is proven by its nonce, or by whom it was asked from.
 */
const MAX_AHEAD_SECONDS = 60;
/** After which the library reads keys again that lack the one of a token. */
const REREAD_SECONDS = 61;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** What an issuer published last. */
interface KnownIssuer {
  readonly metadata: ServerMetadata;
  keys?: ExportedJWKSCache | undefined;
}

/** Reads what issuers publish, through the checks of tenants' URLs, and keeps it for ten minutes. */
export class IssuerClients {
  private readonly fetch: CustomFetch;
  private readonly known = new LRUCache<string, KnownIssuer>({ max: MAX_CACHED, ttl: CACHED_MS });

  /** @param networks private networks that tenants' URLs may reach */
  constructor(networks: readonly TenantNetwork[]) {
    this.fetch = tenantFetch(new TenantHosts(networks), new InternalHosts(networks));
  }

  /** @throws IssuerFailure when what the issuer publishes cannot be read, or is no basis for sign-ins */
  async of(registration: IssuerRegistration): Promise<IssuerClient> {
    const { issuer, clientId, clientSecret } = registration;
    const key = createHash('sha256')
      .update(JSON.stringify([issuer, clientId, clientSecret]))
      .digest('hex');
    const known = this.known.get(key) ?? { metadata: await this.read(registration) };
    if (!this.known.has(key)) this.known.set(key, known);
    return new IssuerClient(
      this.configured(registration, known),
      registration,
      (keys) => (known.keys = keys),
    );
  }

  /** What the issuer publishes at this moment, and how many of its keys are for signatures. @throws IssuerFailure */
  async published(
    registration: IssuerRegistration,
  ): Promise<{ readonly metadata: ServerMetadata; readonly keys: number }> {
    const metadata = await this.metadata(registration);
    try {
      const request = { method: 'GET', headers: { accept: 'application/json' }, redirect: 'manual' } as const;
      const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
      const answer = await this.fetch(metadata.jwks_uri ?? '', { ...request, body: undefined, signal });
      const { keys } = (await answer.json()) as { keys?: readonly { readonly use?: unknown }[] };
      return { metadata, keys: (keys ?? []).filter(({ use = 'sig' }) => use === 'sig').length };
    } catch (error) {
      throw issuerFailureOf(error);
    }
  }

  private async metadata({ issuer, clientId }: IssuerRegistration): Promise<ServerMetadata> {
    try {
      const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
        [customFetch]: this.fetch,
        timeout: TIMEOUT_SECONDS,
        ...(isInsecure(issuer) && { execute: [allowInsecureRequests] }),
      });
      const metadata = found.serverMetadata();
      if (metadata.issuer === issuer) return metadata;
    } catch (error) {
      throw issuerFailureOf(error);
    }
    throw new IssuerFailure('invalid', 'its discovery document names another issuer');
  }

  private async read(registration: IssuerRegistration): Promise<ServerMetadata> {
    const metadata = await this.metadata(registration);
    const given = metadata.id_token_signing_alg_values_supported ?? [];
    const algorithms = ALGORITHMS.filter((name) => given.includes(name));
    if (algorithms.length === 0)
      throw new IssuerFailure('invalid', `it signs ID tokens with none of ${ALGORITHMS.join(', ')}`);
    return { ...metadata, id_token_signing_alg_values_supported: algorithms };
  }

  private configured(
    { issuer, clientId, clientSecret }: IssuerRegistration,
    { metadata, keys }: KnownIssuer,
  ): Configuration {
    const known = new Configuration(
      metadata,
      clientId,
      undefined,
      takesBasic(metadata) ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret),
    );
    known[customFetch] = this.fetch;
    known.timeout = TIMEOUT_SECONDS;
    if (isInsecure(issuer)) allowInsecureRequests(known);
    // the ID token's signature is verified although it comes from the issuer itself
    enableNonRepudiationChecks(known);
    // old enough to be read again for a token with a key that is not among them
    if (keys) setJwksCache(known, { jwks: keys.jwks, uat: seconds() - REREAD_SECONDS });
    return known;
  }
}

/** One issuer, as this service is registered there. */
export class IssuerClient {
  constructor(
    private readonly configuration: Configuration,
    private readonly registration: IssuerRegistration,
    private readonly keepKeys: (keys: ExportedJWKSCache | undefined) => void,
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
      const tokens = await authorizationCodeGrant(this.configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const idToken = tokens.claims()!;
      const claims = await this.claimsOf(idToken.sub, idToken, tokens.access_token);
      return { claims, refreshToken: tokens.refresh_token ?? null };
    } catch (error) {
      throw issuerFailureOf(error);
    }
  }

  /**
   * Asks whether the issuer still vouches for a person.
   * @param subject of the person: the answer must be about nobody else
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
      const tokens = await refreshTokenGrant(this.configuration, refreshToken);
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

  private async claimsOf(
    subject: string,
    idToken: Readonly<Record<string, unknown>> | null,
    accessToken: string,
  ): Promise<IssuerClaims> {
    const { clientId, groupsClaim } = this.registration;
    this.keepKeys(getJwksCache(this.configuration));
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

const seconds = (): number => Math.floor(Date.now() / 1000);

/** Elsewhere than in the deployment's own networks `tenantFetch` refuses it. */
const isInsecure = (issuer: string): boolean => issuer.startsWith('http:');

/** What an issuer that names no method takes. */
const takesBasic = ({ token_endpoint_auth_methods_supported: methods }: ServerMetadata): boolean =>
  methods === undefined || methods.includes('client_secret_basic');
