import type { IssuedToken } from './call-tokens';
import { unexpectedResponse } from './call-failure';
import { requestJson, type JsonApi, type JsonRequest } from './request-json';

/** Characters that are valid in a header. A token has some kilobytes at most. */
const TOKEN = /^[\x21-\x7e]{1,20000}$/;

/** Requests a token (OAuth client credentials grant). @throws CallFailure */
export async function requestToken(
  api: JsonApi,
  request: Omit<JsonRequest, 'operation'>,
  timeoutMs: number,
): Promise<IssuedToken<string>> {
  const operation = 'the token request';
  const { body } = await requestJson(api, { ...request, operation }, timeoutMs);
  const { access_token: token, expires_in: seconds } = body;
  const lifeSeconds = Number(seconds);
  if (typeof token !== 'string' || !TOKEN.test(token) || !(lifeSeconds > 0))
    throw unexpectedResponse(api.cloud, operation);
  return { token, expiresAt: Date.now() + lifeSeconds * 1000 };
}
