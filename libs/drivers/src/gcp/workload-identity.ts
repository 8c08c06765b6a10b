import type { IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import { requireIdentity, withIdentity, type IdentityTokens } from '../identity-tokens';
import type { DriverCredential } from '../provider-driver';
import { GCP_FACTS } from './gcp.facts';
import { refusal, tokenRefusal, unexpectedResponse } from './gcp-errors';
import { exchange } from './rest-exchange';

/** A pool of the tenant that trusts the organization's issuer. */
export interface WorkloadIdentity {
  readonly identity: IdentityTokens;
  /** `projects/<number>/locations/global/workloadIdentityPools/<pool>/providers/<provider>` */
  readonly provider: string;
  /** the service account to act as; null: the pool's principal itself has the permissions */
  readonly email: string | null;
  /** identifies provider, subject and account in the token cache */
  readonly cacheKey: string;
}

const STS_URL = 'https://sts.googleapis.com';
const IAM_CREDENTIALS_URL = 'https://iamcredentials.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const LIFETIME_SECONDS = 3600;
const REQUEST_TIMEOUT_MS = 5000;

/** @throws DriverError `denied` when a field is missing or malformed, or this deployment has no issuer */
export function readWorkloadIdentity({ data, identity }: DriverCredential): WorkloadIdentity {
  const [number, pool, name] = ['projectNumber', 'poolId', 'providerId'].map((field) =>
    wellFormed(data, field),
  );
  const provider = `projects/${number}/locations/global/workloadIdentityPools/${pool}/providers/${name}`;
  const email = data['serviceAccountEmail'] ? wellFormed(data, 'serviceAccountEmail') : null;
  const tokens = requireIdentity(identity);
  return {
    identity: tokens,
    provider,
    email,
    cacheKey: fingerprint(tokens.issuer, tokens.subject, provider, email ?? ''),
  };
}

/** Exchanges tokens of the organization's issuer for access tokens. */
export class TokenExchange {
  private readonly sts: string;
  private readonly credentials: string;

  /** @param environment contains `GOOGLE_STS_URL` and `GOOGLE_IAM_CREDENTIALS_URL`, the URLs before `/v1` */
  constructor(environment: NodeJS.ProcessEnv) {
    this.sts = environment['GOOGLE_STS_URL']?.replace(/\/$/, '') || STS_URL;
    this.credentials = environment['GOOGLE_IAM_CREDENTIALS_URL']?.replace(/\/$/, '') || IAM_CREDENTIALS_URL;
  }

  /** @throws DriverError */
  async token(workload: WorkloadIdentity): Promise<IssuedToken<string>> {
    const federated = await this.federated(workload, 'credential');
    return workload.email === null
      ? federated
      : this.impersonated(workload.email, federated.token).catch((error: unknown) => {
          throw withIdentity(error, workload.identity);
        });
  }

  /** The token of the pool's principal. @throws DriverError */
  async federated(
    { identity, provider, email }: WorkloadIdentity,
    subject: 'credential' | 'probe',
  ): Promise<IssuedToken<string>> {
    const target = email === null ? provider : `${provider} as ${email}`;
    const token = await identity.sign(`https://iam.googleapis.com/${provider}`, subject, target);
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: token,
      scope: SCOPE,
      audience: `//iam.googleapis.com/${provider}`,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = { method: 'POST', headers, body: body.toString(), secrets: [token] };
    const text = await exchange(`${this.sts}/v1/token`, request, REQUEST_TIMEOUT_MS, exchangeRefusal).catch(
      (error: unknown) => {
        throw subject === 'probe' ? error : withIdentity(error, identity);
      },
    );
    const issued = JSON.parse(text) as { access_token?: unknown; expires_in?: unknown };
    if (typeof issued.access_token !== 'string' || typeof issued.expires_in !== 'number')
      throw unexpectedResponse('the token exchange');
    return { token: issued.access_token, expiresAt: Date.now() + issued.expires_in * 1000 };
  }

  private async impersonated(email: string, token: string): Promise<IssuedToken<string>> {
    const url = `${this.credentials}/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ scope: [SCOPE], lifetime: `${LIFETIME_SECONDS}s` });
    const request = { method: 'POST', headers, body, secrets: [token] };
    const text = await exchange(url, request, REQUEST_TIMEOUT_MS, refusal);
    const issued = JSON.parse(text) as { accessToken?: unknown; expireTime?: unknown };
    const expiresAt = Date.parse(String(issued.expireTime));
    if (typeof issued.accessToken !== 'string' || Number.isNaN(expiresAt))
      throw unexpectedResponse('the impersonation of the service account');
    return { token: issued.accessToken, expiresAt };
  }
}

/** Google could not fetch the issuer's keys: the trust itself is not refused. */
const exchangeRefusal: typeof tokenRefusal = (status, body, ...rest) => {
  const failure = tokenRefusal(status, body, ...rest);
  if (!failure.message.includes('Error connecting to the given credential')) return failure;
  return tokenRefusal(503, body, ...rest);
};

function wellFormed(data: DriverCredential['data'], name: string): string {
  const value = data[name];
  if (!value) throw new DriverError('denied', `The credential has no ${name}`);
  // It becomes part of a URL.
  if (GCP_FACTS.credentialTypes['FEDERATION']?.forms[name]?.pattern.test(value)) return value;
  throw new DriverError('denied', `The credential's ${name} is malformed`);
}
