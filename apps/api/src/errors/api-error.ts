import { HttpException, HttpStatus } from '@nestjs/common';
import { afterFieldName } from './field-words';

/** One message for each field that is wrong, to be read after its name; nested fields as `a.b`. */
export type ValidationErrors = Readonly<Record<string, string>>;

export interface ApiErrorExtras {
  /** the code in shape B; without it, the status's own */
  readonly code?: string;
  readonly validationErrors?: ValidationErrors;
  readonly headers?: Readonly<Record<string, string>>;
  /** the request was understood and is refused because of how things are: the audit trail tells of it */
  readonly isAudited?: boolean;
}

/** A refusal a client is meant to read. Made by the functions below. */
export class ApiError extends HttpException {
  constructor(
    status: HttpStatus,
    message: string,
    readonly extras: ApiErrorExtras = {},
  ) {
    super(message, status);
  }
}

const withCode = (code: string | undefined): ApiErrorExtras => (code === undefined ? {} : { code });

/** 400. `validationErrors` only when fields are at fault; a message there may begin with its field's name or not. */
export const badRequest = (message: string, validationErrors?: ValidationErrors, code?: string): ApiError =>
  new ApiError(HttpStatus.BAD_REQUEST, message, {
    ...withCode(code),
    ...(validationErrors ? { validationErrors: uniform(validationErrors) } : {}),
  });

/** 400 of a request that is right in itself, and not possible as things are: a limit, a policy, something in use. Audited. */
export const notPossible = (
  message: string,
  { code, validationErrors }: { code?: string; validationErrors?: ValidationErrors } = {},
): ApiError =>
  new ApiError(HttpStatus.BAD_REQUEST, message, {
    ...badRequest(message, validationErrors, code).extras,
    isAudited: true,
  });

const uniform = (messages: ValidationErrors): ValidationErrors =>
  Object.fromEntries(Object.entries(messages).map(([field, words]) => [field, afterFieldName(words, field)]));

export const unauthorized = (message: string): ApiError => new ApiError(HttpStatus.UNAUTHORIZED, message);

export const forbidden = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.FORBIDDEN, message, withCode(code));

/** 404, the same for what does not exist and for what is another organization's. */
export const notFound = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.NOT_FOUND, message, withCode(code));

export const conflict = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.CONFLICT, message, withCode(code));

export const unprocessable = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.UNPROCESSABLE_ENTITY, message, withCode(code));

/** @param retryAfterSeconds whole seconds, for the Retry-After header */
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(HttpStatus.TOO_MANY_REQUESTS, message, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
