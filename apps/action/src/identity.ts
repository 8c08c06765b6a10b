import { getIDToken, setSecret } from '@actions/core';
import { apiKey, ApiFailure, bearerToken, exchangeIdToken, type Credential } from '#client';
import { ActionFailure, reasonOf } from './failure';
import type { Identity } from './inputs';
import { repeat } from './repeat';

/** The credential that the session is started with: the key, or an access token for the job's ID token. @throws ActionFailure */
export async function credentialOf(url: string, identity: Identity): Promise<Credential> {
  if (identity.kind === 'trust') return bearerToken(await exchange(url, identity.audience, identity.trustId));
  setSecret(identity.apiKey);
  return apiKey(identity.apiKey);
}

/** An ID token is accepted once: each attempt uses a new one. @returns an access token of the service user */
async function exchange(url: string, audience: string, trustId: string | null): Promise<string> {
  try {
    const accessToken = await repeat(async () =>
      exchangeIdToken(url, await requestIdToken(audience), trustId),
    );
    setSecret(accessToken);
    return accessToken;
  } catch (error) {
    throw error instanceof ApiFailure ? refusal(error) : error;
  }
}

async function requestIdToken(audience: string): Promise<string> {
  if (!process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] || !process.env['ACTIONS_ID_TOKEN_REQUEST_TOKEN']) {
    throw new ActionFailure(
      'This job may not request an ID token',
      'add `permissions: id-token: write` to the job; workflows of forks never get one',
    );
  }
  try {
    return await getIDToken(audience);
  } catch (error) {
    const message = `GitHub issued no ID token: ${reasonOf(error)}`;
    throw new ActionFailure(message, 'run the job again, and check status.github.com');
  }
}

function refusal(error: ApiFailure): Error {
  if (error.status === 400 && error.message.includes('trust')) {
    return new ActionFailure(error.message, 'add # and the id of one of them to the input trust');
  }
  if (error.status !== 401) return error;
  return new ActionFailure(
    "The server refused this job's ID token",
    'an administrator finds the reason in the audit logs (OIDC_EXCHANGE_REFUSED): a condition of the trust, or its audience',
  );
}
