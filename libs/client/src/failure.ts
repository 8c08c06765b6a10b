/** A refusal by the server. `fields` holds one message for each invalid field of the request. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** an attempt before, which had no answer, may have done what is refused now */
  isRepeated = false;

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
  override readonly name: string = 'Unreachable';

  constructor(
    readonly url: string,
    reason: string,
    /** whether another attempt may succeed in a moment */
    readonly isPassing = true,
  ) {
    super(`${url} cannot be reached: ${reason}`);
  }
}

/** Something else answers at this address: another service, or a network that wants its users to sign in first. */
export class NotDrawbridge extends Unreachable {
  override readonly name = 'NotDrawbridge';

  constructor(url: string, answer: string) {
    super(url, answer, false);
    this.message = `${url} is not Drawbridge: it answers with ${answer}`;
  }
}

/** @throws NotDrawbridge for an answer that no release of the API gives */
export function requireDrawbridge({ status, headers }: Response, origin: string): void {
  const location = headers.get('location');
  if (status >= 300 && status < 400) {
    throw new NotDrawbridge(origin, `a redirect to ${location}: when Drawbridge has moved, use that address`);
  }
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content';
  // a proxy before the API has pages of its own for what it cannot forward
  const isForeign = status < 300 ? status !== 204 && !/json|csv/.test(type) : FOREIGN.has(status);
  if (isForeign && !type.includes('json')) throw new NotDrawbridge(origin, `HTTP ${status} and ${type}`);
}

const FOREIGN: ReadonlySet<number> = new Set([401, 403, 404, 405]);

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly validationErrors?: unknown;
}

/** Reads the failure from a response; a body in another shape, as of a proxy, is left out. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const body = bodyIn(await response.text());
  const message = typeof body.message === 'string' ? body.message : `HTTP ${response.status}`;
  return new ApiFailure(
    response.status,
    message,
    isTexts(body.validationErrors) ? body.validationErrors : {},
    typeof body.error === 'string' ? body.error : null,
    response.headers.get('x-request-id'),
  );
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

/** @param url without its path */
export function unreachable(url: string, error: unknown): Unreachable {
  const { code, reason } = connectionFailure(error);
  return new Unreachable(url, reason, code !== 'ENOTFOUND');
}

/** The reason of a failed connection in a few words. */
export const connectionReason = (error: unknown): string => connectionFailure(error).reason;

/** fetch hides the error in the cause, Node.js in a list of attempts. */
function connectionFailure(error: unknown): { readonly code: string; readonly reason: string } {
  if (!(error instanceof Error)) return { code: '', reason: String(error) };
  if (error instanceof AggregateError && error.errors.length > 0) return connectionFailure(error.errors[0]);
  if (error.cause instanceof Error) return connectionFailure(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { code, reason: REASONS[code] ?? (error.message || code || error.name) };
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
