import { HttpException, HttpStatus } from '@nestjs/common';
import { CompanySignInRequired, ScopeError } from '#guards';
import { ApiError, type ApiErrorExtras } from './api-error';
import { isConflict, isTextRefused, isUnavailable, SearchTooSlow } from '#entities';
import { TooBusy } from '#rules';

/** The normalized form of any error that ended a request. */
export interface Failure extends ApiErrorExtras {
  readonly status: number;
  readonly message: string;
  /** sent unchanged, whatever the path's shape */
  readonly fixedBody?: string | object;
  /** true: the error is logged, and its message is not sent to the client */
  readonly unexpected: boolean;
}

const RETRY_AFTER_SECONDS = '2';
const unavailable = {
  status: HttpStatus.SERVICE_UNAVAILABLE,
  message: 'The service is temporarily unavailable, please try again',
  headers: { 'Retry-After': RETRY_AFTER_SECONDS },
} as const;
const FRAMEWORK_NOT_FOUND = /^Cannot [A-Z-]+ \//;

/** Classifies everything a handler, a guard, a pipe or the framework may throw. */
export function failureOf(exception: unknown): Failure {
  if (exception instanceof ScopeError) {
    const { message } = exception;
    return { status: exception.getStatus(), message, fixedBody: exception.getResponse(), unexpected: false };
  }
  if (exception instanceof ApiError) {
    return {
      ...exception.extras,
      status: exception.getStatus(),
      message: exception.message,
      unexpected: false,
    };
  }
  if (exception instanceof CompanySignInRequired) {
    const { message, code } = exception;
    return { status: exception.getStatus(), message, code, unexpected: false };
  }
  if (exception instanceof HttpException && exception.getStatus() < 500) {
    const message = FRAMEWORK_NOT_FOUND.test(exception.message)
      ? 'There is no such endpoint'
      : exception.message;
    return { status: exception.getStatus(), message, unexpected: false };
  }
  if (isTextRefused(exception)) {
    return { status: 400, message: 'Text must not contain the character U+0000', unexpected: false };
  }
  if (exception instanceof TooBusy) {
    const ofOne = { status: HttpStatus.TOO_MANY_REQUESTS, message: exception.message };
    return { ...unavailable, ...(exception.ofOne && ofOne), unexpected: false };
  }
  if (exception instanceof SearchTooSlow) {
    return { ...unavailable, message: exception.message, unexpected: false };
  }
  // a conflict that outlasted its retries
  if (isUnavailable(exception) || isConflict(exception)) {
    return { ...unavailable, unexpected: true };
  }
  return {
    status: HttpStatus.INTERNAL_SERVER_ERROR,
    message: 'An unexpected error occurred',
    unexpected: true,
  };
}
