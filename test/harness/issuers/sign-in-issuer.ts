import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactSign } from 'jose';
import { bodyOf, LoopbackServer } from '../network/loopback-server';
import { newKey, type IssuerKey } from './oidc-issuer';

type Json = Readonly<Record<string, unknown>>;

/** Somebody who can sign in at the issuer. */
export interface IssuerPerson {
  readonly sub: string;
  readonly email: string;
  email_verified?: unknown;
  groups?: readonly string[];
  /** nothing is issued for the person any more */
  disabled?: boolean;
  /** further claims of the ID token */
  readonly more?: Json;
}

/** How an issuer lies about one sign-in. */
export interface Lie {
  /** of the ID token; undefined removes one */
  readonly claims?: Json;
  readonly header?: Json;
  /** what signs, instead of the issuer's first key */
  readonly key?: IssuerKey;
  /** the ID token as it is; undefined: a signed one */
  readonly idToken?: (honest: string) => string | Promise<string>;
  /** the body of the token endpoint's answer instead of the honest one */
  readonly answer?: (honest: Json) => unknown;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly userinfo?: Json;
  readonly userinfoStatus?: number;
}

interface Grant {
  readonly person: IssuerPerson;
  readonly asked: URLSearchParams;
  readonly lie: Lie;
  readonly subject: string;
}

const CLIENT = { id: 'drawbridge', secret: 'a secret of the client, long-enough_too' } as const;

/** An OpenID provider on this machine, for sign-ins: honest, unless a sign-in is to be lied about. */
export class SignInIssuer extends LoopbackServer {
  readonly client = CLIENT;
  keys: IssuerKey[] = [];
  /** members of the discovery document that differ */
  metadata: Json = {};
  isDown = false;
  /** what it sends people back with who are asked for no page; null: it knows no such redirect URI */
  silently: string | null = 'login_required';
  /** takes requests, and does not answer them */
  isSilent = false;
  /** the path alone where it is down or silent; null: everywhere */
  lackingAt: string | null = null;
  givesRefreshTokens = true;
  /** what it refuses refresh tokens of disabled people with */
  refusal: Json = { error: 'invalid_grant', error_description: '<script>alert(1)</script>' };
  /** ends the connection, before it has read a request or instead of its answer */
  cut: ((path: string, when: 'before' | 'after') => boolean) | null = null;
  checksVerifiers = true;
  /** paths of the requests it has had */
  readonly requests: string[] = [];
  private readonly codes = new Map<string, Grant>();
  private readonly refreshTokens = new Map<string, Grant>();
  private readonly accessTokens = new Map<string, Grant>();

  static async start(): Promise<SignInIssuer> {
    const issuer = new SignInIssuer();
    issuer.keys = [await newKey('RS256', 'first')];
    return issuer.listen();
  }

  /** What a browser does there: signs in. @returns the callback that it is sent to */
  signIn(authorize: URL, person: IssuerPerson, lie: Lie = {}): URL {
    const asked = authorize.searchParams;
    const callback = new URL(asked.get('redirect_uri')!);
    callback.searchParams.set('code', this.codeFor(asked, person, lie));
    callback.searchParams.set('state', asked.get('state')!);
    callback.searchParams.set('iss', this.url);
    return callback;
  }

  codeFor(asked: URLSearchParams, person: IssuerPerson, lie: Lie = {}): string {
    const code = randomUUID();
    this.codes.set(code, { person, asked, lie, subject: person.sub });
    return code;
  }

  /** The refresh tokens that it has issued are refused from now on. */
  forgetGrants(): void {
    this.refreshTokens.clear();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', this.url);
    this.requests.push(pathname);
    const isLacking = this.lackingAt === null || pathname === this.lackingAt;
    if (this.isSilent && isLacking) return;
    if (this.cut?.(pathname, 'before')) return void request.destroy();
    if (this.isDown && isLacking) return void response.writeHead(503).end();
    const answer = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void => {
      if (this.cut?.(pathname, 'after')) return void response.destroy();
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    };
    if (pathname === '/.well-known/openid-configuration') return answer(this.discovery());
    if (pathname === '/keys') return answer({ keys: this.keys.map(({ publicJwk }) => publicJwk) });
    if (pathname === '/authorize' && this.silently !== null) return this.sendBack(request, response);
    if (pathname === '/userinfo') return this.tell(request, answer);
    if (pathname === '/token') return this.issue(new URLSearchParams(await bodyOf(request)), request, answer);
    return answer({}, 404);
  }

  private sendBack({ url }: IncomingMessage, response: ServerResponse): void {
    const back = new URL(new URL(url ?? '', this.url).searchParams.get('redirect_uri')!);
    back.searchParams.set('error', this.silently!);
    response.writeHead(302, { location: back.href }).end();
  }

  private discovery(): Json {
    const { url } = this;
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      userinfo_endpoint: `${url}/userinfo`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'email', 'profile', 'offline_access', 'groups'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  private tell(request: IncomingMessage, answer: (body: unknown, status?: number) => void): void {
    const grant = this.accessTokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (!grant) return answer({ error: 'invalid_token' }, 401);
    const { person, lie } = grant;
    if (lie.userinfoStatus !== undefined) return answer({}, lie.userinfoStatus);
    return answer(
      lie.userinfo ?? { sub: person.sub, email: person.email, email_verified: person.email_verified },
    );
  }

  private async issue(
    form: URLSearchParams,
    { headers: { authorization } }: IncomingMessage,
    answer: (body: unknown, status?: number, headers?: Readonly<Record<string, string>>) => void,
  ): Promise<void> {
    const basic = `Basic ${Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret).replaceAll('%20', '+')}`).toString('base64')}`;
    // one that takes both does not decode the header
    const methods = this.metadata['token_endpoint_auth_methods_supported'] ?? [];
    const isClient = (methods as string[]).includes('client_secret_post')
      ? form.get('client_secret') === CLIENT.secret
      : authorization === basic;
    if (!isClient) return answer({ error: 'invalid_client' }, 401);
    const isRefresh = form.get('grant_type') === 'refresh_token';
    const known = isRefresh ? this.refreshTokens : this.codes;
    const given = form.get(isRefresh ? 'refresh_token' : 'code') ?? '';
    const grant = known.get(given);
    known.delete(given);
    if (!grant || grant.person.disabled || !(isRefresh || !this.checksVerifiers || isProven(grant, form)))
      return answer(this.refusal, 400);
    const [accessToken, refreshToken] = [randomUUID(), randomUUID()];
    this.accessTokens.set(accessToken, grant);
    this.refreshTokens.set(refreshToken, { ...grant, lie: isRefresh ? grant.lie : {} });
    const honest = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 60,
      id_token: await this.idTokenOf(grant, isRefresh),
      ...(this.givesRefreshTokens && { refresh_token: refreshToken }),
    };
    const { lie } = grant;
    return answer(lie.answer ? lie.answer(honest) : honest, lie.status, lie.headers);
  }

  private async idTokenOf({ person, asked, lie, subject }: Grant, isRefresh: boolean): Promise<string> {
    const { email, email_verified = true, groups, more } = person;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.url,
      sub: subject,
      aud: CLIENT.id,
      iat: now,
      exp: now + 300,
      ...(!isRefresh && { nonce: asked.get('nonce') }),
      email,
      email_verified,
      ...(groups && { groups }),
      ...more,
      ...lie.claims,
    };
    const key = lie.key ?? this.keys[0]!;
    const honest = await signed(claims, { alg: key.alg, kid: key.kid, typ: 'JWT', ...lie.header }, key);
    return lie.idToken ? lie.idToken(honest) : honest;
  }
}

const signed = (claims: Json, header: Json, { privateKey }: IssuerKey): Promise<string> =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tests sign headers that the type forbids
    .setProtectedHeader(header as { alg: string })
    .sign(privateKey, { crit: { x: true } });

/** An honest issuer demands the verifier of the sign-in that the code is of, and its redirect URI. */
const isProven = ({ asked }: Grant, form: URLSearchParams): boolean =>
  createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url') === asked.get('code_challenge') &&
  form.get('redirect_uri') === asked.get('redirect_uri');
