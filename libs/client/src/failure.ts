/** A refusal by the server. `fields` holds one message for each invalid field of the request. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';

  constructor(
    readonly status: number,
    message: string,
    readonly fields: Readonly<Record<string, string>> = {},
    /** machine-readable, where the server gives one */
    readonly code: string | null = null,
    /** names the request in the server's log */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }

  /** Whether the server may answer otherwise to the same request later. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** No answer: the server could not be reached, or the connection broke. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(
    readonly url: string,
    reason: string,
  ) {
    super(`${url} cannot be reached: ${reason}`);
  }
}

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly validationErrors?: unknown;
}

/** Reads the failure from a response; a body in another shape, as of a proxy, is left out. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const body = bodyIn(await response.text());
  const message = typeof body.message === 'string' ? body.message : unexplained(response);
  return new ApiFailure(
    response.status,
    message,
    isTexts(body.validationErrors) ? body.validationErrors : {},
    typeof body.error === 'string' ? body.error : null,
    response.headers.get('x-request-id'),
  );
}

function unexplained({ status, headers }: Response): string {
  const target = headers.get('location');
  return target === null ? `HTTP ${status}` : `The server has moved to ${target}: use that address`;
}

function bodyIn(text: string): ErrorBody {
  try {
    const body = JSON.parse(text) as unknown;
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((message) => typeof message === 'string');

/** The reason of a failed connection in a few words. fetch hides it in the cause, Node.js in a list of attempts. */
export function connectionReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return connectionReason(error.errors[0]);
  if (error.cause instanceof Error) return connectionReason(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? (error.message || code || error.name);
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'its name has no address (ENOTFOUND)',
  EAI_AGAIN: 'the name server does not answer (EAI_AGAIN)',
  ECONNRESET: 'the connection was closed (ECONNRESET)',
  ETIMEDOUT: 'it does not answer (ETIMEDOUT)',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer (timeout)',
  UND_ERR_SOCKET: 'the connection was closed',
};
