import { LRUCache } from 'lru-cache';
import { CallFailure } from '../call-failure';
import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { requestToken } from '../client-credentials';
import type { Deadline } from '../deadline';
import { fingerprint } from '../fingerprint';
import { requireSubjectCondition, withIdentity } from '../identity-tokens';
import type { ServicePrincipal } from './azure-credentials';
import { refusalOf } from './azure-errors';

/** The audience that Entra's documentation names. */
const AUDIENCE = 'api://AzureADTokenExchange';
/** No matching trust of the app, by issuer, audience or subject. */
const NOT_KNOWN = /AADSTS(70021\d?|7002138)\b/;
/** How long a trust may be unknown before that counts as a refusal. */
const UNKNOWN_MS = 600_000;
/**
 * After such a time without a failure the ten minutes begin anew: the administrator may have made the trust just
 * now. Longer than the pauses of background checks.
 */
const QUIET_MS = 1.5 * UNKNOWN_MS;
const MUST_FIT = 'Issuer, subject and audience must fit exactly.';
const CAPACITY = 200;

/** In milliseconds since 1970. */
interface UnknownTrust {
  readonly since: number;
  readonly lastAt: number;
}

/** Tokens for the tenants' service principals (OAuth client credentials grant). */
export class AccessTokens {
  private readonly tokens = new TokenCache<string>();
  /** trusts that Entra did not know, without a success since */
  private readonly unknown = new LRUCache<string, UnknownTrust>({ max: CAPACITY });

  /**
   * @param authority URL of the token service, `https://login.microsoftonline.com`
   * @param audience resource of the tokens, `https://management.azure.com`
   */
  constructor(
    private readonly authority: string,
    private readonly audience: string,
  ) {}

  /** @throws CallFailure */
  token(principal: ServicePrincipal, deadline: Deadline): Promise<CallToken<string>> {
    return this.tokens.take(cacheKey(principal), () => this.request(principal, deadline));
  }

  /** Requests a token without the cache. @throws DriverError also when the app trusts any subject */
  async check(principal: ServicePrincipal, deadline: Deadline): Promise<void> {
    await this.request(principal, deadline);
    await this.requireSubjectCondition(principal, deadline);
  }

  /** @throws DriverError `denied` when a trust of the app accepts any subject of the issuer */
  async requireSubjectCondition(
    { tenantId, clientId, proof }: ServicePrincipal,
    deadline: Deadline,
  ): Promise<void> {
    if ('clientSecret' in proof) return;
    const assertion = await proof.identity.sign(AUDIENCE, 'probe', `${tenantId}/${clientId}`);
    await requireSubjectCondition(
      proof.identity,
      () => this.post(tenantId, clientId, assertionFields(assertion), [assertion], deadline),
      `The app ${clientId}`,
    );
  }

  private async request(principal: ServicePrincipal, deadline: Deadline): Promise<IssuedToken<string>> {
    const { tenantId, clientId, proof } = principal;
    if ('clientSecret' in proof) {
      const { clientSecret } = proof;
      return this.post(tenantId, clientId, { client_secret: clientSecret }, [clientSecret], deadline);
    }
    const assertion = await proof.identity.sign(AUDIENCE, 'credential', `${tenantId}/${clientId}`);
    const key = cacheKey(principal);
    try {
      const fields = assertionFields(assertion);
      const issued = await this.post(tenantId, clientId, fields, [assertion], deadline);
      this.unknown.delete(key);
      return issued;
    } catch (error) {
      throw withIdentity(this.judged(error, key), proof.identity);
    }
  }

  /**
   * Entra does not know a new trust everywhere for some minutes, and may forget an old one for a moment: no verdict before
   * it has not known the trust for ten minutes of repeated requests. A session whose rule waits for it fails by its own
   * time limit.
   */
  private judged(error: unknown, key: string): unknown {
    if (!(error instanceof CallFailure) || !NOT_KNOWN.test(error.message)) return error;
    const now = Date.now();
    const known = this.unknown.get(key);
    const since = known && now - known.lastAt < QUIET_MS ? known.since : now;
    this.unknown.set(key, { since, lastAt: now });
    if (now - since >= UNKNOWN_MS)
      return new CallFailure('denied', `${error.message} ${MUST_FIT}`, error.code, true);
    const hint = `Entra may need some minutes to know a new trust. ${MUST_FIT}`;
    return new CallFailure('transient', `${error.message} ${hint}`, error.code, true);
  }

  private post(
    tenantId: string,
    clientId: string,
    proof: Readonly<Record<string, string>>,
    secrets: readonly string[],
    deadline: Deadline,
  ): Promise<IssuedToken<string>> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      ...proof,
      scope: `${this.audience}/.default`,
    });
    const url = `${this.authority}/${tenantId}/oauth2/v2.0/token`;
    return requestToken({ cloud: 'Azure', refusalOf }, { url, body, secrets }, deadline.requestTimeoutMs);
  }
}

const assertionFields = (assertion: string): Readonly<Record<string, string>> => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
});

const cacheKey = ({ tenantId, clientId, proof }: ServicePrincipal): string =>
  'clientSecret' in proof
    ? fingerprint(tenantId, clientId, proof.clientSecret)
    : fingerprint(tenantId, clientId, proof.identity.issuer, proof.identity.subject);
