import type { ValidationError } from 'class-validator';
import { badRequest, type ApiError, type ValidationErrors } from './api-error';
import { stripFieldName } from './field-message';

/** Limits the size of the response to a body with many invalid elements. */
const MAX_FIELDS = 30;

const MISSING = 'is required';

/** One message per invalid field; nested fields as `a.b`, elements as `a.0`. Each follows the field's name in a sentence. */
export function fieldMessages(errors: readonly ValidationError[]): ValidationErrors {
  return Object.fromEntries(messagesOf(errors, '').slice(0, MAX_FIELDS));
}

/** 400 for invalid fields. The message lists them as well, because coded error bodies have no `validationErrors`. */
export function validationFailed(errors: readonly ValidationError[]): ApiError {
  const messages = fieldMessages(errors);
  const sentences = Object.entries(messages).map(([field, message]) => `${field} ${message}`);
  return badRequest(sentences.join('; ') || 'The request is not valid', messages);
}

function messagesOf(errors: readonly ValidationError[], parent: string): [field: string, message: string][] {
  return errors.flatMap((error) => {
    const field = parent === '' ? error.property : `${parent}.${error.property}`;
    const message = messageOf(error, field);
    const own: [string, string][] = message === null ? [] : [[field, message]];
    return [...own, ...messagesOf(error.children ?? [], field)];
  });
}

/** Checks of absent optional fields are skipped, so a failed check of an undefined value means a missing required field. */
function messageOf({ constraints, value }: ValidationError, field: string): string | null {
  const [first] = Object.values(constraints ?? {});
  if (first === undefined) return null;
  return value === undefined ? MISSING : stripFieldName(first, field);
}
