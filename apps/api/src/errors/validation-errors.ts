import type { ValidationError } from 'class-validator';
import { badRequest, type ApiError, type ValidationErrors } from './api-error';

/** A body of a thousand wrong elements gets no answer of a thousand lines. */
const MOST_FIELDS = 20;

/** One message for each field that failed, nested fields as `a.b`, elements as `a.0`. */
export function fieldMessages(errors: readonly ValidationError[]): ValidationErrors {
  return Object.fromEntries(messagesOf(errors, '').slice(0, MOST_FIELDS));
}

/** 400 for a request whose fields are wrong. Its message names them too: one of the error bodies has no place for fields. */
export function validationFailed(errors: readonly ValidationError[]): ApiError {
  const messages = fieldMessages(errors);
  return badRequest(inOneLine(messages) || 'The request is not valid', messages);
}

function messagesOf(errors: readonly ValidationError[], parent: string): [field: string, message: string][] {
  return errors.flatMap((error) => {
    const field = parent === '' ? error.property : `${parent}.${error.property}`;
    const [first] = Object.values(error.constraints ?? {});
    const own: [string, string][] = first === undefined ? [] : [[field, first]];
    return [...own, ...messagesOf(error.children ?? [], field)];
  });
}

function inOneLine(messages: ValidationErrors): string {
  return Object.entries(messages)
    .map(([field, words]) => {
      const named = words.startsWith(field.split('.').at(-1) ?? field) || words.startsWith('each value in');
      return named ? words : `${field} ${words}`;
    })
    .join('; ');
}
