import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallToken } from '../call-tokens';
import { requestJson } from '../request-json';
import { loadCompute, type Methods } from './compute-library';
import { GOOGLE, unexpectedResponse } from './gcp-errors';

/** A call in progress. */
interface Call {
  readonly token: string;
  readonly timeoutMs: number;
  isAnswered: boolean;
}

interface ClientRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

const ORIGIN = 'https://compute.googleapis.com';
const SEARCH_MS = 10_000;
const RESOURCE_MANAGER = 'https://cloudresourcemanager.googleapis.com';

/**
 * Google's clients for Compute, shared by all tenants. They encode and decode; each request is sent by `requestJson` with
 * the token of its call. The package's own transport limits neither time nor size, and follows redirects with the token.
 */
export class ComputeClients {
  private constructor(
    private readonly calls: AsyncLocalStorage<Call>,
    private readonly compute: Awaited<ReturnType<typeof loadCompute>>,
    private readonly resourceManager: string,
  ) {}

  /** @param environment contains `GCP_COMPUTE_URL` and `GCP_RESOURCE_MANAGER_URL`, the URLs before `/compute/v1` and `/v1` */
  static async load(environment: NodeJS.ProcessEnv): Promise<ComputeClients> {
    const base = environment['GCP_COMPUTE_URL']?.replace(/\/$/, '') || ORIGIN;
    const resourceManager = environment['GCP_RESOURCE_MANAGER_URL']?.replace(/\/$/, '') || RESOURCE_MANAGER;
    const calls = new AsyncLocalStorage<Call>();
    return new ComputeClients(calls, await loadCompute(transport(base, calls)), resourceManager);
  }

  /** @throws CallFailure also when the response is not decodable */
  call<M extends keyof Methods>(
    token: CallToken<string>,
    method: M,
    request: Methods[M]['request'] & { readonly project: string },
    timeoutMs: number,
  ): Promise<Methods[M]['message']> {
    return token.use(async (current) => {
      const call: Call = { token: current, timeoutMs, isAnswered: false };
      try {
        return (await this.calls.run(call, () => this.compute(method, request))) as Methods[M]['message'];
      } catch (error) {
        if (call.isAnswered) throw unexpectedResponse(method);
        throw error;
      }
    });
  }

  /** Asks the Resource Manager which of the permissions are granted on a project. @throws CallFailure */
  async permissionsOnProject(
    token: CallToken<string>,
    project: string,
    permissions: readonly string[],
    timeoutMs: number,
  ): Promise<readonly string[]> {
    const operation = 'projects.testIamPermissions';
    const url = `${this.resourceManager}/v1/projects/${encodeURIComponent(project)}:testIamPermissions`;
    const sent = JSON.stringify({ permissions });
    const { body } = await token.use((current) => {
      const headers = { authorization: `Bearer ${current}`, 'content-type': 'application/json' };
      return requestJson(GOOGLE, { operation, url, headers, body: sent, secrets: [current] }, timeoutMs);
    });
    const { permissions: granted = [] } = body;
    const isList = Array.isArray(granted) && granted.every((item) => typeof item === 'string');
    if (!isList) throw unexpectedResponse(operation);
    return granted;
  }

  /** A page of the projects that the Resource Manager shows. @throws CallFailure */
  async searchProjects(
    token: CallToken<string>,
    pageToken: string | null,
  ): Promise<Readonly<Record<string, unknown>>> {
    const query = new URLSearchParams({ pageSize: '500', ...(pageToken !== null && { pageToken }) });
    const url = `${this.resourceManager}/v3/projects:search?${query.toString()}`;
    const { body } = await token.use((current) => {
      const headers = { authorization: `Bearer ${current}` };
      const request = { operation: 'projects.search', url, headers, secrets: [current] };
      return requestJson(GOOGLE, request, SEARCH_MS);
    });
    return body;
  }
}

/** In place of Google's authentication client. @param base where requests go to, whatever host the clients name */
function transport(base: string, calls: AsyncLocalStorage<Call>): object {
  return {
    // the clients look for it and do not call it
    getRequestHeaders: () => Promise.reject(new Error('Each call sets its token')),
    fetch: async (url: string, { method, headers: given, body }: ClientRequest) => {
      const call = calls.getStore();
      if (!call) throw new Error('A call to Google without a token');
      const { pathname, search } = new URL(url);
      const headers = { ...Object.fromEntries(given), authorization: `Bearer ${call.token}` };
      const sent = {
        url: `${base}${pathname}${search}`,
        method,
        headers,
        ...(body !== undefined && { body }),
      };
      const request = { operation: `${method} ${pathname}`, ...sent, secrets: [call.token] };
      const { text } = await requestJson(GOOGLE, request, call.timeoutMs);
      call.isAnswered = true;
      return new Response(text);
    },
  };
}
