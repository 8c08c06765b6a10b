import type { IssuedToken } from '../call-tokens';
import { credentialFields } from '../credential-fields';
import { fingerprint } from '../fingerprint';
import { requireIdentity, withIdentity, type IdentityTokens } from '../identity-tokens';
import type { DriverCredential } from '../provider-driver';
import { requestJson } from '../request-json';
import { GCP_FACTS } from './gcp.facts';
import { GOOGLE, unexpectedResponse } from './gcp-errors';
import { requestToken, TOKEN_TIMEOUT_MS } from './token-request';

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

/** @throws DriverError `denied` when a field is missing or malformed, or this deployment has no issuer */
export function readWorkloadIdentity(credential: DriverCredential): WorkloadIdentity {
  const field = credentialFields(GCP_FACTS, credential);
  const pool = `projects/${field('projectNumber')}/locations/global/workloadIdentityPools/${field('poolId')}`;
  const provider = `${pool}/providers/${field('providerId')}`;
  const email = field('serviceAccountEmail') || null;
  const identity = requireIdentity(credential.identity);
  const cacheKey = fingerprint(identity.issuer, identity.subject, provider, email ?? '');
  return { identity, provider, email, cacheKey };
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
  async issueToken(workload: WorkloadIdentity): Promise<IssuedToken<string>> {
    const federated = await this.issueFederatedToken(workload, 'credential');
    return workload.email === null
      ? federated
      : this.issueImpersonatedToken(workload.email, federated.token).catch((error: unknown) => {
          throw withIdentity(error, workload.identity);
        });
  }

  /** The token of the pool's principal. @throws DriverError */
  async issueFederatedToken(
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
    const operation = 'the token exchange';
    try {
      return await requestToken({ operation, url: `${this.sts}/v1/token`, body, secrets: [token] });
    } catch (error) {
      throw subject === 'probe' ? error : withIdentity(error, identity);
    }
  }

  private async issueImpersonatedToken(email: string, token: string): Promise<IssuedToken<string>> {
    const url = `${this.credentials}/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`;
    const operation = 'the impersonation of the service account';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = JSON.stringify({ scope: [SCOPE], lifetime: `${LIFETIME_SECONDS}s` });
    const request = { operation, url, headers, body: sent, secrets: [token] };
    const { body: issued } = await requestJson(GOOGLE, request, TOKEN_TIMEOUT_MS);
    const expiresAt = Date.parse(String(issued.expireTime));
    if (typeof issued.accessToken !== 'string' || Number.isNaN(expiresAt))
      throw unexpectedResponse(operation);
    return { token: issued.accessToken, expiresAt };
  }
}
