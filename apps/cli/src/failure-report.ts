import { CommandFailure, EXIT, type ExitCode } from './exit-codes';

/** A failure as it is shown: no stack, no secret. */
export interface FailureReport {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly fix: string | null;
  /** one message for each invalid field of the request */
  readonly fields: Readonly<Record<string, string>>;
  /** names the request in the server's log */
  readonly requestId: string | null;
}

/** Loaded only after a failure. */
export async function reportOf(error: unknown): Promise<FailureReport> {
  const { ApiFailure, UnknownResource, Unreachable } = await import('#client');
  const plain = { fix: null, fields: {}, requestId: null };
  if (error instanceof CommandFailure) {
    return { ...plain, exitCode: error.exitCode, message: error.message, fix: error.fix };
  }
  if (error instanceof ApiFailure) {
    const { message, fields, requestId } = error;
    const exitCode = exitCodeOf(error.status);
    return { exitCode, message, fields, requestId, fix: fixOf(error.status, message) };
  }
  if (error instanceof UnknownResource) return { ...plain, exitCode: EXIT.usage, message: error.message };
  if (error instanceof Unreachable) {
    const fix = 'check the address, and the network with: drawbridge doctor';
    return { ...plain, exitCode: EXIT.unreachable, message: error.message, fix };
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { ...plain, exitCode: EXIT.unreachable, message: 'The server did not answer in time' };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { ...plain, exitCode: EXIT.failed, message };
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.denied;
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.usage;
}

function fixOf(status: number, message: string): string | null {
  if (status === 401) return 'sign in with: drawbridge login, or check DRAWBRIDGE_API_KEY';
  if (status === 429) return 'wait a minute: requests are counted for all clients behind one address';
  if (status >= 500) return 'try again; drawbridge doctor shows whether the server is up';
  if (status === 403 && message.includes('scope'))
    return 'make a key with this scope: drawbridge keys create NAME --user SERVICE_USER_ID --scope SCOPE';
  return null;
}
