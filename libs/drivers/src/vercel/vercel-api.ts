import type { Deadline } from '../deadline';
import { requestJson } from '../request-json';
import type { VercelToken } from './vercel-credentials';
import { messageOf, refusalOf, unexpectedResponse } from './vercel-errors';

const API = { cloud: 'Vercel', refusalOf };

interface ApiRequest {
  /** for error messages */
  readonly operation: string;
  readonly method: 'GET' | 'PATCH';
  /** relative to the endpoint, with leading slash */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Client for Vercel's REST API with one token, for one driver call. */
export class VercelApi {
  /** @param endpoint without trailing slash */
  constructor(
    private readonly endpoint: string,
    private readonly credential: VercelToken,
    readonly deadline: Deadline,
  ) {}

  get teamId(): string | null {
    return this.credential.teamId;
  }

  /** @returns the response's JSON object @throws CallFailure also for an error in a successful response */
  async request({
    operation,
    method,
    path,
    query,
    body,
  }: ApiRequest): Promise<Readonly<Record<string, unknown>>> {
    const { token, teamId } = this.credential;
    const parameters = new URLSearchParams({ ...query, ...(teamId !== null && { teamId }) });
    const request = {
      operation,
      method,
      url: `${this.endpoint}${path}${parameters.size > 0 ? `?${parameters}` : ''}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      secrets: [token],
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const answer = await requestJson(API, request, this.deadline.requestTimeoutMs);
    if (messageOf(answer.body) === null) return answer.body;
    throw unexpectedResponse(operation);
  }
}
