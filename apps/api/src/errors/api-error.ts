import { HttpException, HttpStatus } from '@nestjs/common';
import { stripFieldName } from './field-message';

/** One message per invalid field. Each follows the field's name in a sentence; nested fields as `a.b`. */
export type ValidationErrors = Readonly<Record<string, string>>;

export interface ApiErrorExtras {
  /** `error` of the body; default: the status's phrase or code */
  readonly code?: string;
  readonly validationErrors?: ValidationErrors;
  readonly headers?: Readonly<Record<string, string>>;
  /** true: a valid request was denied because of the current state, and the denial is recorded in the audit trail */
  readonly isAudited?: boolean;
}

/** An error whose message is sent to the client. Created by the functions below. */
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

/** 400. `validationErrors` only for invalid fields; a leading field name is removed from their messages. */
export const badRequest = (message: string, validationErrors?: ValidationErrors, code?: string): ApiError =>
  new ApiError(HttpStatus.BAD_REQUEST, message, {
    ...withCode(code),
    ...(validationErrors ? { validationErrors: withoutFieldNames(validationErrors) } : {}),
  });

/** 400 for one field. @param message follows its name in a sentence */
export const invalidField = (field: string, message: string): ApiError =>
  badRequest(`${field} ${message}`, { [field]: message });

/** 400 for a valid request that the current state does not allow: a limit, a policy, an object in use. Audited. */
export const notPossible = (
  message: string,
  { code, validationErrors }: { code?: string; validationErrors?: ValidationErrors } = {},
): ApiError =>
  new ApiError(HttpStatus.BAD_REQUEST, message, {
    ...badRequest(message, validationErrors, code).extras,
    isAudited: true,
  });

/** 400 for a name that must be the only one. @param what with its article: `A role` */
export const nameTaken = (what: string, name: string): ApiError =>
  notPossible(`${what} named "${name}" exists: choose another name`, {
    validationErrors: { name: 'must not be taken' },
  });

const withoutFieldNames = (messages: ValidationErrors): ValidationErrors =>
  Object.fromEntries(
    Object.entries(messages).map(([field, message]) => [field, stripFieldName(message, field)]),
  );

export const unauthorized = (message: string): ApiError => new ApiError(HttpStatus.UNAUTHORIZED, message);

export const forbidden = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.FORBIDDEN, message, withCode(code));

/** 403 for what others have to approve first: programs tell it by its `error`. */
export const approvalRequired = (message: string): ApiError => forbidden(message, 'Approval required');

/** 404. Identical for objects that do not exist and objects of other organizations. */
export const notFound = (message: string, code?: string): ApiError =>
  new ApiError(HttpStatus.NOT_FOUND, message, withCode(code));

export const conflict = (message: string): ApiError => new ApiError(HttpStatus.CONFLICT, message);

export const unprocessable = (message: string): ApiError =>
  new ApiError(HttpStatus.UNPROCESSABLE_ENTITY, message);

/** @param retryAfterSeconds whole seconds, for the Retry-After header */
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(HttpStatus.TOO_MANY_REQUESTS, message, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
