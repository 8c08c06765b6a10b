import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** Property decorator: the text without the blanks around it. */
export const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** Property decorator: an e-mail address in the one spelling an account has: trimmed, lower case. */
export const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() : value,
  );

// control and format characters, blanks, and what is drawn as nothing: two texts that look the same would differ
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Property decorator: a text without characters that nobody sees, or that turn others around. */
export const HasOnlyVisibleCharacters = (): PropertyDecorator =>
  ValidateBy({
    name: 'hasOnlyVisibleCharacters',
    validator: {
      validate: (value) => typeof value === 'string' && !INVISIBLE.test(value),
      defaultMessage: () =>
        'must not contain blanks, invisible characters or marks that change the direction',
    },
  });

/** Property decorator: an id, or ids, in the one spelling they are kept in: lower case. */
export const asId = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => lowerCase(value));

function lowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCase);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
