import createClient, { type Middleware } from 'openapi-fetch';
import createQueries from 'openapi-react-query';
import type { components, paths } from '#client/schema';
import { failureOf } from './failure';
import { reach } from './reach';
import { accessToken, CONSOLE_HEADER, refresh } from './sign-in';

export type Schemas = components['schemas'];

const authorized: Middleware = {
  async onRequest({ request }) {
    request.headers.set('X-Drawbridge-Console', CONSOLE_HEADER['X-Drawbridge-Console']);
    const token = await accessToken();
    if (token !== null) request.headers.set('Authorization', `Bearer ${token}`);
    return request;
  },
};

const failing: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await failureOf(response);
    return response;
  },
};

/** Sends; an access token that was refused although it should be valid is replaced once. */
async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await reach(request);
  if (response.status !== 401 || !again.headers.has('Authorization') || !(await refresh())) return response;
  const token = await accessToken();
  if (token === null) return response;
  again.headers.set('Authorization', `Bearer ${token}`);
  return reach(again);
}

/** The operations of the API, as the signed-in person. Each throws a `Failure` unless it succeeds. */
export const api = createClient<paths>({ fetch: send });
api.use(failing, authorized);

/** The same for requests before a sign-in. */
export const openApi = createClient<paths>({ fetch: reach, headers: CONSOLE_HEADER });
openApi.use(failing);

/** Queries and mutations of the API for components. */
export const $api = createQueries(api);
