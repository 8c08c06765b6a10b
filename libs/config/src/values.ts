import { Transform } from 'class-transformer';
import { IsBoolean, ValidateBy } from 'class-validator';

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Property decorator: parses a decimal integer; anything else becomes NaN. */
export const toInteger = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (/^-?\d+$/.test(text(value)) ? Number(text(value)) : Number.NaN) : value,
  );

/**
 * Property decorator: a whole number in a range.
 * @param meaning completes "a whole number" in the message: `of seconds`
 */
export const wholeNumber =
  (lowest: number, highest = Infinity, meaning = ''): PropertyDecorator =>
  (target, name) => {
    const unit = meaning === '' ? '' : ` ${meaning}`;
    const range = highest === Infinity ? `, at least ${lowest}` : ` from ${lowest} to ${highest}`;
    toInteger()(target, name);
    ValidateBy({
      name: 'wholeNumber',
      validator: {
        validate: (value: unknown) =>
          Number.isInteger(value) && Number(value) >= lowest && Number(value) <= highest,
        defaultMessage: () => `${String(name)} must be a whole number${unit}${range}`,
      },
    })(target, name);
  };

/** Property decorator: parses a comma-separated list, trims items and drops empty ones. */
export const toList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : value,
  );

const truthOf = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (/^(true|1|yes)$/i.test(text(value))) return true;
  if (/^(false|0|no)$/i.test(text(value))) return false;
  return value;
};

/** Property decorator: `true`/`1`/`yes` or `false`/`0`/`no`. */
export const trueOrFalse = (): PropertyDecorator => (target, name) => {
  Transform(({ value }: { value: unknown }) => truthOf(value))(target, name);
  IsBoolean({ message: `${String(name)} must be true or false` })(target, name);
};
