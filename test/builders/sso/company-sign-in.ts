import type { Schemas } from '#client';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import type { Product } from '../../harness/product/drawbridge';
import { type IssuerPerson, type Lie, SignInIssuer } from '../../harness/issuers/sign-in-issuer';
import type { Organization } from '../accounts/organization';

export type IdentityProvider = Schemas['IdentityProviderDto'];
export type SignedIn = Schemas['LoginAnswerDto'];

/** A sign-in that waits at the issuer. */
export interface Begun {
  readonly authorize: URL;
  readonly verifier: string;
}

/** Where a browser was sent back to. */
export interface Returned {
  readonly status: number;
  /** without what it was told */
  readonly place: string;
  readonly told: URLSearchParams;
}

/** The e-mail domain that the organizations' providers are authoritative for. */
export const DOMAIN = 'example.com';

export const identityProvider = (
  { admin }: Pick<Organization, 'admin'>,
  issuer: Pick<SignInIssuer, 'url'> & { readonly client: { readonly id: string; readonly secret: string } },
  more: object = {},
): Promise<IdentityProvider> =>
  admin.created<IdentityProvider>('/identity-providers', {
    name: `Directory ${randomUUID()}`,
    issuer: issuer.url,
    clientId: issuer.client.id,
    clientSecret: issuer.client.secret,
    emailDomains: [DOMAIN],
    ...more,
  });

export const person = (more: Partial<IssuerPerson> = {}): IssuerPerson => ({
  sub: randomUUID(),
  email: `${randomUUID()}@${DOMAIN}`,
  ...more,
});

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/** The company sign-in of one organization, as a browser and a client see it. */
export class CompanySignIn {
  private constructor(
    readonly product: Product,
    readonly slug: string,
  ) {}

  static async of({
    drawbridge,
    organizationId,
  }: Pick<Organization, 'drawbridge' | 'organizationId'>): Promise<CompanySignIn> {
    const [found] = await drawbridge.query<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1', [
      organizationId,
    ]);
    return new CompanySignIn(drawbridge, found!.slug);
  }

  /** @param asked parameters that differ */
  async start(asked: Readonly<Record<string, string>> = {}): Promise<Response> {
    const query = new URLSearchParams({ returnTo: 'code', challenge: challengeOf('none'), ...asked });
    return this.visit(new URL(`${this.base}/auth/sso/${this.slug}?${query}`));
  }

  async begin(asked: Readonly<Record<string, string>> = {}): Promise<Begun> {
    const verifier = randomBytes(32).toString('base64url');
    const response = await this.start({ challenge: challengeOf(verifier), ...asked });
    if (response.status !== 302) throw new Error(`It answered ${response.status}: ${await response.text()}`);
    return { authorize: new URL(response.headers.get('location')!), verifier };
  }

  /** Brings the issuer's answer back. */
  async answer(callback: URL): Promise<Returned> {
    const { status, headers } = await this.visit(callback);
    const place = new URL(headers.get('location') ?? 'http://nowhere.invalid');
    const told = new URLSearchParams(place.hash === '' ? place.search : place.hash.slice(1));
    place.hash = place.search = '';
    return { status, place: place.href, told };
  }

  complete(code: string, verifier: string, more: object = {}): Promise<Answer<SignedIn>> {
    return this.product.api.post<SignedIn>('/auth/sso/complete', { code, verifier, ...more });
  }

  /** How far a sign-in comes: `in`, or where it ends. */
  async outcome(callback: URL, verifier: string): Promise<string> {
    const { status, told } = await this.answer(callback);
    if (status !== 302) return `callback ${status}`;
    if (told.has('error')) return `error ${told.get('error')}`;
    const completed = await this.complete(told.get('code')!, verifier);
    return completed.status === 200 ? 'in' : `complete ${completed.status}`;
  }

  /** A whole sign-in. @throws Error unless the person gets in */
  async signedIn(issuer: SignInIssuer, somebody: IssuerPerson, lie: Lie = {}): Promise<SignedIn> {
    const { authorize, verifier } = await this.begin();
    const { told } = await this.answer(issuer.signIn(authorize, somebody, lie));
    const code = told.get('code');
    if (code === null) throw new Error(`Nobody is in: ${told.get('error')}, ${told.get('message')}`);
    return this.product.api.expect(200, this.complete(code, verifier));
  }

  /** The same, as a client of the API. */
  async clientOf(issuer: SignInIssuer, somebody: IssuerPerson): Promise<ApiClient> {
    const { accessToken } = await this.signedIn(issuer, somebody);
    return this.product.api.as({ token: accessToken! });
  }

  private get base(): string {
    return `http://127.0.0.1:${this.product.apiServer.port}/api/v1`;
  }

  /** At the process itself, whatever the public address is. */
  private visit(url: URL): Promise<Response> {
    const at = new URL(url);
    at.host = `127.0.0.1:${this.product.apiServer.port}`;
    return fetch(at, { redirect: 'manual' });
  }
}

/** Completes a sign-in, for a test of every operation. @param fresh called when the account has been made */
export async function throughCompanySignIn(
  org: Organization,
  did: (operation: string, action: Promise<Answer<SignedIn>>) => Promise<unknown>,
  fresh: () => Promise<unknown>,
): Promise<void> {
  const issuer = await SignInIssuer.start();
  await identityProvider(org, issuer, { createUsers: true });
  const signIn = await CompanySignIn.of(org);
  const { authorize, verifier } = await signIn.begin();
  const { told } = await signIn.answer(issuer.signIn(authorize, person()));
  await fresh();
  await did('POST /auth/sso/complete', signIn.complete(told.get('code')!, verifier));
  await issuer.stop();
}
