import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientMetadata, Configuration, default as Provider, KoaContextWithOIDC } from 'oidc-provider';
import { readBody } from '../request-body';
import { IssuedTokens } from './issued-tokens';
import { GROUP_CLAIMS, MANNERS, type MannerName } from './manners';
import { People, type Person } from './people';
import { messagePage, signInPage } from './sign-in-page';

const ISSUER_PREFIX = '/issuer';

/** Not secrets: valid at the simulated identity provider only. */
export const CLIENT_ID = 'drawbridge';
export const CLIENT_SECRET = 'simulated-client-secret';
const SIGNING_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'YJERGXek-2iLLWXt3NkGFZuwO58MTpTD_PFVKa6Upo0',
  y: 'AuesQSQn1uFxj6zv3dEgDUisB46B0hA6vPHpJIV_dX4',
  d: 'helTQ_MXM3uqeHQ3Cumd6YWoXM7ntx7-qfzaFjsbT1M',
  kid: 'simulated',
  alg: 'ES256',
  use: 'sig',
};
const COOKIE_KEY = 'simulated-cookie-key';

const SIGN_IN = new RegExp(`^${ISSUER_PREFIX}/sign-in/[\\w-]+$`);
/** Where Drawbridge has itself called back, for whichever organization. */
const CALLBACK = /\/api\/v1\/auth\/sso\/[a-z\d-]+\/callback$/;
const MINUTE = 60;
/** As Entra ID does. */
const BACKDATED = 5 * MINUTE;
const MONTH = 30 * 24 * 60 * MINUTE;

interface Loaded {
  readonly provider: Provider;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/**
 * A real OpenID Connect provider with made-up people: the person who signs in clicks on one of them. Its code is loaded with the
 * first request.
 */
export class Issuer {
  readonly people = new People();
  private readonly tokens = new IssuedTokens();
  private loaded: Promise<Loaded> | null = null;

  /** @param origin of the simulator, known once it listens */
  constructor(private readonly origin: () => string) {}

  get url(): string {
    return `${this.origin()}${ISSUER_PREFIX}`;
  }

  get changes(): number {
    return this.tokens.changes;
  }

  serves(path: string): boolean {
    return path.startsWith(`${ISSUER_PREFIX}/`);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.people.isDown) {
      answerPage(response, 503, messagePage('The identity provider is down'));
      return;
    }
    const { provider, answer } = await (this.loaded ??= this.load());
    const url = request.url ?? '';
    if (SIGN_IN.test(url)) await this.signIn(provider, request, response);
    else {
      Object.assign(request, { originalUrl: url, url: url.slice(ISSUER_PREFIX.length) });
      await answer(request, response);
    }
  }

  save(): unknown {
    return this.tokens.save();
  }

  restore(saved: unknown): void {
    this.tokens.restore(saved);
  }

  /** The page that asks who signs in, and the click on it. */
  private async signIn(
    provider: Provider,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { params } = await provider.interactionDetails(request, response);
    if (request.method !== 'POST') {
      answerPage(response, 200, signInPage(this.people.list()));
      return;
    }
    const form = new URLSearchParams((await readBody(request)) ?? '');
    const person = this.people.whoMaySignIn(form.get('person') ?? '');
    if (person) person.refusal = null;
    const result = person
      ? await signIn(provider, person, params, form.has('secondFactor'))
      : { error: 'access_denied', error_description: 'No person was chosen' };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  private async load(): Promise<Loaded> {
    const { Provider: OidcProvider } = await importQuietly();
    const provider = new OidcProvider(this.url, this.configuration());
    // as an administrator of the issuer would enter it, for each organization that is tried
    Object.assign(provider.Client.prototype, { redirectUriAllowed: (uri: string) => CALLBACK.test(uri) });
    backdateIdTokens(provider);
    provider.use<object, Pick<KoaContextWithOIDC, 'oidc'>>(async (context, next) => {
      await next();
      this.refuse(context);
    });
    provider.on('server_error', (_, error) => process.stderr.write(`${ISSUER_PREFIX}: ${error.stack}\n`));
    return { provider, answer: provider.callback() };
  }

  /** Refuses a refresh token as the issuer does that it acts as. */
  private refuse({ path, oidc, response }: KoaContextWithOIDC): void {
    const { error } = Object(response.body) as { error?: string };
    if (path !== '/token' || error !== 'invalid_grant' || oidc.params?.['grant_type'] !== 'refresh_token')
      return;
    const subject = oidc.entities.RefreshToken?.accountId;
    const refusal = (subject === undefined ? null : this.people.refusalOf(subject)) ?? 'used-before';
    Object.assign(response, MANNERS[this.people.manner].refusals[refusal]);
  }

  private configuration(): Configuration {
    return {
      adapter: this.tokens.adapter,
      clients: [CLIENT],
      jwks: { keys: [SIGNING_KEY] },
      // the browser never sends the session back: each sign-in asks who it is
      cookies: { keys: [COOKIE_KEY], long: { path: `${ISSUER_PREFIX}/nowhere` } },
      scopes: ['openid', 'offline_access', 'email', 'profile', 'groups'],
      claims: {
        openid: ['sub', 'amr'],
        email: ['email', 'email_verified'],
        profile: ['name'],
        groups: GROUP_CLAIMS,
      },
      conformIdTokenClaims: false,
      enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
      interactions: { url: (_, { uid }) => `${ISSUER_PREFIX}/sign-in/${uid}` },
      expiresWithSession: () => false,
      // as most providers do; the specification would have people asked again each time
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      ttl: {
        AccessToken: 10 * MINUTE,
        IdToken: 10 * MINUTE,
        Interaction: 10 * MINUTE,
        Session: 10 * MINUTE,
        RefreshToken: MONTH,
        Grant: MONTH,
      },
      findAccount: (_, subject, token) => {
        const person = this.people.whoMaySignIn(subject);
        if (!person || (token?.kind === 'RefreshToken' && person.refusal !== null)) return undefined;
        return { accountId: subject, claims: () => claimsOf(person, this.people.manner) };
      },
      renderError: (context, { error, error_description: description }) => {
        context.type = 'html';
        context.body = messagePage(description ?? error);
      },
    };
  }
}

const CLIENT: ClientMetadata = {
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
  client_name: 'Drawbridge',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['http://localhost:3000/api/v1/auth/sso/demo/callback'],
  id_token_signed_response_alg: 'ES256',
};

const claimsOf = ({ subject, name, email, groups }: Person, manner: MannerName) => ({
  sub: subject,
  name,
  email,
  email_verified: true,
  ...MANNERS[manner].groups(groups),
});

function backdateIdTokens({ IdToken }: Provider): void {
  const payload = Reflect.get(IdToken.prototype, 'payload') as () => Promise<object>;
  IdToken.prototype.payload = async function (this: InstanceType<typeof IdToken>) {
    const issuedAt = Math.floor(Date.now() / 1000) - BACKDATED;
    return { ...(await payload.call(this)), iat: issuedAt, nbf: issuedAt };
  };
}

/** What a click on a person means: signed in, and everything that was asked for is granted. */
async function signIn(
  provider: Provider,
  { subject }: Person,
  { client_id: clientId, scope }: Readonly<Record<string, unknown>>,
  hasSecondFactor: boolean,
) {
  const grant = new provider.Grant({ accountId: subject, clientId: String(clientId) });
  grant.addOIDCScope(String(scope));
  const amr = hasSecondFactor ? ['pwd', 'mfa'] : ['pwd'];
  return { login: { accountId: subject, amr }, consent: { grantId: await grant.save() } };
}

/** It says while loading that it does not support Node.js 20, on which it works. */
async function importQuietly(): Promise<typeof import('oidc-provider')> {
  const { warn } = console;
  Object.assign(console, { warn: () => undefined });
  try {
    return await import('oidc-provider');
  } finally {
    Object.assign(console, { warn });
  }
}

const answerPage = (response: ServerResponse, status: number, page: string): unknown =>
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .end(page);
