import { bodyOf, createApi } from './api';

/**
 * Exchanges the ID token of a CI job for an access token of at most 15 minutes. An ID token is accepted once.
 * @param trustId only where the token fits several trusts
 * @throws ApiFailure 401, the same for every reason; 400 when the trust has to be named
 * @throws Unreachable
 */
export async function exchangeIdToken(url: string, idToken: string, trustId: string | null): Promise<string> {
  const api = createApi({ url, credential: null });
  const { accessToken } = await bodyOf(
    api.POST('/api/v1/auth/oidc/exchange', { body: { idToken, trustId } }),
  );
  return accessToken;
}
