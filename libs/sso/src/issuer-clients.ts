import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  Configuration,
  customFetch,
  type CustomFetch,
  discovery,
  enableNonRepudiationChecks,
  type ExportedJWKSCache,
  type ServerMetadata,
  setJwksCache,
} from 'openid-client';
import { InternalHosts, TenantHosts, type TenantNetwork } from '#drivers';
import { IssuerClient, type IssuerRegistration } from './issuer-client';
import { algorithmsOf, demandsOn } from './issuer-demands';
import { IssuerFailure, issuerFailureOf } from './issuer-failure';
import { tenantFetch } from './tenant-fetch';

const TIMEOUT_SECONDS = 5;
const CACHED_MS = 10 * 60_000;
const MAX_CACHED = 500;
/** After which the library reads keys again that lack the one of a token. */
const REREAD_SECONDS = 61;
/** Between two readings because of a signature: forged ones must not cause more. */
const FORGET_PAUSE_MS = 30_000;
/** An address, and no text of an issuer's own. */
const SHOWN_ISSUER = /^https?:\/\/[\w.:/{}~%[\]-]{1,200}$/;

/** What an issuer published last. */
interface KnownIssuer {
  readonly metadata: ServerMetadata;
  keys?: ExportedJWKSCache | undefined;
  /** by `performance.now()` */
  forgottenAt: number;
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
    const known = this.known.get(key) ?? { metadata: await this.read(registration), forgottenAt: -Infinity };
    if (!this.known.has(key)) this.known.set(key, known);
    return this.clientOf(registration, known);
  }

  private clientOf(registration: IssuerRegistration, known: KnownIssuer): IssuerClient {
    return new IssuerClient(this.configured(registration, known), registration, {
      keep: (keys) => (known.keys = keys),
      forget: () => {
        const now = performance.now();
        if (now - known.forgottenAt < FORGET_PAUSE_MS) return null;
        known.forgottenAt = now;
        delete known.keys;
        return this.configured(registration, known);
      },
    });
  }

  /** What the issuer publishes at this moment, how many of its keys are for signatures, and its client. @throws IssuerFailure */
  async readPublished(registration: IssuerRegistration): Promise<{
    readonly metadata: ServerMetadata;
    readonly keys: number;
    readonly client: IssuerClient;
  }> {
    const metadata = await this.metadata(registration);
    try {
      const request = { method: 'GET', headers: { accept: 'application/json' }, redirect: 'manual' } as const;
      const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
      const answer = await this.fetch(metadata.jwks_uri ?? '', { ...request, body: undefined, signal });
      const { keys } = (await answer.json()) as { keys?: readonly { readonly use?: unknown }[] };
      return {
        metadata,
        keys: (keys ?? []).filter(({ use = 'sig' }) => use === 'sig').length,
        client: this.clientOf(registration, { metadata, forgottenAt: -Infinity }),
      };
    } catch (error) {
      throw issuerFailureOf(error);
    }
  }

  private async metadata({ issuer, clientId }: IssuerRegistration): Promise<ServerMetadata> {
    let metadata: ServerMetadata;
    try {
      // the whole address: the library would compare the document's issuer with what is before it
      const address = new URL(`${withoutSlash(issuer)}/.well-known/openid-configuration`);
      const found = await discovery(address, clientId, undefined, undefined, {
        [customFetch]: this.fetch,
        timeout: TIMEOUT_SECONDS,
        ...(isInsecure(issuer) && { execute: [allowInsecureRequests] }),
      });
      metadata = found.serverMetadata();
    } catch (error) {
      throw issuerFailureOf(error);
    }
    // one document: with the slash or without is what people leave out
    if (withoutSlash(metadata.issuer) === withoutSlash(issuer)) return metadata;
    const named = SHOWN_ISSUER.test(metadata.issuer) ? `, ${metadata.issuer}, instead of ${issuer}` : '';
    throw new IssuerFailure('invalid', `its discovery document names another issuer${named}`);
  }

  private async read(registration: IssuerRegistration): Promise<ServerMetadata> {
    const metadata = await this.metadata(registration);
    try {
      const lacking = demandsOn(metadata).find(({ ok }) => !ok);
      if (lacking) throw new IssuerFailure('invalid', lacking.message);
      return metadata;
    } catch (error) {
      // of a document whose members are of other types
      throw issuerFailureOf(error);
    }
  }

  private configured(
    { issuer, clientId, clientSecret }: IssuerRegistration,
    { metadata, keys }: KnownIssuer,
  ): Configuration {
    const known = new Configuration(
      { ...metadata, id_token_signing_alg_values_supported: algorithmsOf(metadata) },
      clientId,
      undefined,
      takesBasic(metadata) ? basic(clientSecret) : ClientSecretPost(clientSecret),
    );
    known[customFetch] = this.fetch;
    known.timeout = TIMEOUT_SECONDS;
    if (isInsecure(issuer)) allowInsecureRequests(known);
    // the ID token's signature is verified although it comes from the issuer itself
    enableNonRepudiationChecks(known);
    // old enough to be read again for a token with a key that is not among them
    if (keys) setJwksCache(known, { jwks: keys.jwks, uat: Math.floor(Date.now() / 1000) - REREAD_SECONDS });
    return known;
  }
}

/** Elsewhere than in the deployment's own networks `tenantFetch` refuses it. */
const isInsecure = (issuer: string): boolean => issuer.startsWith('http:');

/** What an issuer takes that names no method. One that takes both gets the secret in the body, which leaves no doubt about its encoding. */
const takesBasic = ({ token_endpoint_auth_methods_supported: methods }: ServerMetadata): boolean =>
  methods === undefined ||
  (methods.includes('client_secret_basic') && !methods.includes('client_secret_post'));

const withoutSlash = (issuer: string): string => issuer.replace(/\/$/, '');

/**
 * As RFC 6749 has it, percent-encoded. Characters that stand for themselves in every encoding are left as they are: there are
 * issuers that do not decode, and others that do.
 */
const basic =
  (secret: string): ClientAuth =>
  (_issuer, { client_id: id }, _body, headers) =>
    headers.set(
      'authorization',
      `Basic ${Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64')}`,
    );

const encoded = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
