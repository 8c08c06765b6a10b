import type { ValidationError } from 'class-validator';
import { badRequest, type ApiError, type ValidationErrors } from './api-error';
import { afterFieldName } from './field-words';

/** A body of a thousand wrong elements gets no answer of a thousand lines. */
const MAX_FIELDS = 20;

const MISSING = 'is required';

/** One message for each field that failed, nested fields as `a.b`, elements as `a.0`. Each reads after the name. */
export function fieldMessages(errors: readonly ValidationError[]): ValidationErrors {
  return Object.fromEntries(messagesOf(errors, '').slice(0, MAX_FIELDS));
}

/** 400 for a request whose fields are wrong. Its message names them too: one of the error bodies has no place for fields. */
export function validationFailed(errors: readonly ValidationError[]): ApiError {
  const messages = fieldMessages(errors);
  const sentence = Object.entries(messages).map(([field, words]) => `${field} ${words}`);
  return badRequest(sentence.join('; ') || 'The request is not valid', messages);
}

function messagesOf(errors: readonly ValidationError[], parent: string): [field: string, message: string][] {
  return errors.flatMap((error) => {
    const field = parent === '' ? error.property : `${parent}.${error.property}`;
    const words = messageOf(error, field);
    const own: [string, string][] = words === null ? [] : [[field, words]];
    return [...own, ...messagesOf(error.children ?? [], field)];
  });
}

/** What a field that may be left out is missing for is never asked, so a check that failed on nothing is of a required one. */
function messageOf({ constraints, value }: ValidationError, field: string): string | null {
  const [first] = Object.values(constraints ?? {});
  if (first === undefined) return null;
  return value === undefined ? MISSING : afterFieldName(first, field);
}
