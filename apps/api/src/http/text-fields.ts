import { Transform } from 'class-transformer';

/** Property decorator: the text without the blanks around it. */
export const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** Property decorator: an e-mail address in the one spelling an account has: trimmed, lower case. */
export const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() : value,
  );
