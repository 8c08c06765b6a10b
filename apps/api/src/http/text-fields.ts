import { Transform } from 'class-transformer';

/** Property decorator: the text without the blanks around it. */
export const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** Property decorator: an e-mail address in the one spelling an account has: trimmed, lower case. */
export const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() : value,
  );

/** Property decorator: an id, or ids, in the one spelling they are kept in: lower case. */
export const asId = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => lowerCase(value));

function lowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCase);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
