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
const RESOURCE_MANAGER = 'https://cloudresourcemanager.googleapis.com';

/**
 * Client for Google's Compute REST API, shared by all tenants. Google's library has ninety dependencies and takes
 * seconds to load; the nine calls needed here are plain REST.
 */
export class ComputeApi {
  private readonly base: string;
  private readonly resourceManager: string;

  /** @param environment contains `GCP_COMPUTE_URL` and `GCP_RESOURCE_MANAGER_URL`, the URLs before `/compute/v1` and `/v1` */
  constructor(environment: NodeJS.ProcessEnv) {
    this.base = environment['GCP_COMPUTE_URL']?.replace(/\/$/, '') || ORIGIN;
    this.resourceManager = environment['GCP_RESOURCE_MANAGER_URL']?.replace(/\/$/, '') || RESOURCE_MANAGER;
  }

  /** Asks the Resource Manager which of the permissions are granted on a project. @throws CallFailure */
  testPermissions(
    context: CallContext,
    project: string,
    permissions: readonly string[],
  ): Promise<Record<string, unknown>> {
    const url = `${this.resourceManager}/v1/projects/${encodeURIComponent(project)}:testIamPermissions`;
    return this.send(context, url, 'POST', { permissions });
  }

  /** @returns the response's JSON object, not validated. @throws CallFailure */
  call(context: CallContext, call: ComputeCall): Promise<Record<string, unknown>> {
    const { method, project, path, query = {}, body } = call;
    const resource = ['projects', project, 'global', ...path].map(encodeURIComponent).join('/');
    const search = new URLSearchParams(query).toString();
    return this.send(context, `${this.base}/compute/v1/${resource}${search && `?${search}`}`, method, body);
  }

  private async send(
    { token, timeoutMs }: CallContext,
    url: string,
    method: ComputeCall['method'],
    body?: object,
  ): Promise<Record<string, unknown>> {
    const text = await exchange(
      url,
      {
        method,
        secrets: [token],
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
