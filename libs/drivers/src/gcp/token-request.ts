import type { IssuedToken } from '../call-tokens';
import { requestJson, type JsonRequest } from '../request-json';
import { GOOGLE_TOKENS, unexpectedResponse } from './gcp-errors';

export const TOKEN_TIMEOUT_MS = 5000;

/** Requests a token of one of Google's token endpoints. @throws CallFailure */
export async function requestToken(request: JsonRequest): Promise<IssuedToken<string>> {
  const { body: issued } = await requestJson(GOOGLE_TOKENS, request, TOKEN_TIMEOUT_MS);
  const { access_token: token, expires_in: seconds } = issued;
  if (typeof token !== 'string' || typeof seconds !== 'number') throw unexpectedResponse(request.operation);
  return { token, expiresAt: Date.now() + seconds * 1000 };
}
