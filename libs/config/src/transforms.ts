import { Transform } from 'class-transformer';

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Property decorator: parses a decimal integer; anything else becomes NaN, which `@IsInt()` rejects. */
export const toInteger = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (/^-?\d+$/.test(text(value)) ? Number(text(value)) : Number.NaN) : value,
  );

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

/**
 * Property decorator: parses `true`/`1`/`yes` and `false`/`0`/`no`; anything else is unchanged, so `@IsBoolean()`
 * rejects it.
 */
export const toBoolean = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    if (/^(true|1|yes)$/i.test(text(value))) return true;
    if (/^(false|0|no)$/i.test(text(value))) return false;
    return value;
  });
