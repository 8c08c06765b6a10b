import { refusal } from './gcp-errors';
import { exchange } from './rest-exchange';

/** The token and timeout of one call. */
interface CallContext {
  readonly token: string;
  readonly timeoutMs: number;
}

/** One call, below `/compute/v1/projects/<project>/global`. */
export interface ComputeCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly project: string;
  /** segments, encoded by `call` */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const ORIGIN = 'https://compute.googleapis.com';

/**
 * Client for Google's Compute REST API, shared by all tenants. Google's library has ninety dependencies and takes
 * seconds to load; the nine calls needed here are plain REST.
 */
export class ComputeApi {
  private readonly base: string;

  /** @param environment contains `GCP_COMPUTE_URL`, the base URL before `/compute/v1` */
  constructor(environment: NodeJS.ProcessEnv) {
    this.base = environment['GCP_COMPUTE_URL']?.replace(/\/$/, '') || ORIGIN;
  }

  /** @returns the response's JSON object, not validated. @throws CallFailure */
  async call({ token, timeoutMs }: CallContext, call: ComputeCall): Promise<Record<string, unknown>> {
    const { method, project, path, query = {}, body } = call;
    const resource = ['projects', project, 'global', ...path].map(encodeURIComponent).join('/');
    const search = new URLSearchParams(query).toString();
    const text = await exchange(
      `${this.base}/compute/v1/${resource}${search && `?${search}`}`,
      {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      timeoutMs,
      refusal,
    );
    return JSON.parse(text) as Record<string, unknown>;
  }
}
