import { Transform } from 'class-transformer';
import { emailForm, hiddenCharacters } from '#rules';
import { checkedBy } from './checked-by';

export const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/**
 * Property decorator: a text of which people see everything, on one line. Terminals, logs and mails of others show it.
 * @param prefix begins the message; for what is refused without a list of fields
 * @param find the characters to refuse
 */
export const HasNoHiddenCharacters = (prefix = '', find = hiddenCharacters): PropertyDecorator =>
  checkedBy('hasNoHiddenCharacters', (value) => {
    const found = typeof value === 'string' ? find(value) : [];
    return found.length === 0
      ? null
      : `${prefix}must not contain control, invisible or direction characters: ${found.join(', ')}`;
  });

/** Property decorator: composes letters and their marks (NFC), so that a text is the same from every keyboard. */
export const composed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.normalize('NFC') : value));

/** Property decorator: an e-mail address in its one form. */
export const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? emailForm(value) : value));

// control and format characters, blanks and invisible characters: texts that look the same could differ
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Property decorator: a text without invisible and bidirectional control characters. */
export const HasOnlyVisibleCharacters = (): PropertyDecorator =>
  checkedBy('hasOnlyVisibleCharacters', (value) =>
    typeof value === 'string' && !INVISIBLE.test(value)
      ? null
      : 'must not contain blanks, invisible characters or marks that change the direction',
  );

/** Property decorator: converts an id, or a list of ids, to lower case, as they are stored. */
export const asId = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => lowerCase(value));

function lowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCase);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
