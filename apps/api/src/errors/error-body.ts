import { STATUS_CODES } from 'node:http';
import { codeOf, errorShapeOf } from './error-shape';
import type { Failure } from './failure';

/**
 * The response body of a failure on a path.
 * @param path the request's path without its query
 */
export function errorBodyOf(failure: Failure, path: string, now: Date): string | object {
  if (failure.fixedBody !== undefined) return failure.fixedBody;
  const shape = errorShapeOf(path);
  const timestamp = now.toISOString();
  const { status, message, validationErrors } = failure;
  if (shape === 'generic') {
    const error = failure.phrase ?? STATUS_CODES[status] ?? 'Error';
    return { timestamp, status, error, message, path, ...(validationErrors ? { validationErrors } : {}) };
  }
  return {
    error: failure.code ?? codeOf(status, shape),
    message,
    timestamp,
  };
}
