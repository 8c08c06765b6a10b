import { refusal } from './gcp-errors';
import { exchange } from './rest-exchange';

/** What one call is made with. */
interface CallContext {
  readonly token: string;
  readonly withinMs: number;
}

/** One call, below `/compute/v1/projects/<project>/global`. */
export interface ComputeCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly project: string;
  /** each part is encoded */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const ORIGIN = 'https://compute.googleapis.com';

/**
 * Google's Compute REST API, one for all tenants. Google's own library brings ninety packages and takes seconds to load;
 * the nine calls needed here are plain REST.
 */
export class ComputeApi {
  private readonly base: string;

  /** @param environment where `GCP_COMPUTE_URL` is read: what stands before `/compute/v1` */
  constructor(environment: NodeJS.ProcessEnv) {
    this.base = environment['GCP_COMPUTE_URL']?.replace(/\/$/, '') || ORIGIN;
  }

  /** @returns the answer's JSON object, whatever is in it. @throws CallFailure */
  async call({ token, withinMs }: CallContext, call: ComputeCall): Promise<Record<string, unknown>> {
    const { method, project, path, query = {}, body } = call;
    const place = ['projects', project, 'global', ...path].map(encodeURIComponent).join('/');
    const search = new URLSearchParams(query).toString();
    const text = await exchange(
      `${this.base}/compute/v1/${place}${search && `?${search}`}`,
      {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      withinMs,
      refusal,
    );
    return JSON.parse(text) as Record<string, unknown>;
  }
}
