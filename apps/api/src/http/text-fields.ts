import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsString, MaxLength, ValidateBy } from 'class-validator';

/** Property decorator: trims the text. */
export const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** Property decorator: a text that is not blank, trimmed. @param maximum characters */
export const IsLine = (maximum: number): PropertyDecorator =>
  applyDecorators(
    IsString({ message: 'must be a string' }),
    MaxLength(maximum, { message: `must be at most ${maximum} characters` }),
    IsNotEmpty({ message: 'must not be empty' }),
    trimmed(),
  );

/** Property decorator: normalizes an e-mail address: trimmed, lower case. */
export const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() : value,
  );

// control and format characters, blanks and invisible characters: texts that look the same could differ
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Property decorator: a text without invisible and bidirectional control characters. */
export const HasOnlyVisibleCharacters = (): PropertyDecorator =>
  ValidateBy({
    name: 'hasOnlyVisibleCharacters',
    validator: {
      validate: (value) => typeof value === 'string' && !INVISIBLE.test(value),
      defaultMessage: () =>
        'must not contain blanks, invisible characters or marks that change the direction',
    },
  });

/** Property decorator: converts an id, or a list of ids, to lower case, as they are stored. */
export const asId = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => lowerCase(value));

function lowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCase);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
