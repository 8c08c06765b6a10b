import { ValidateBy, type ValidationOptions } from 'class-validator';
import { canonicalCidr } from '#rules';

const everyItem = (
  name: string,
  test: (item: string) => boolean,
  options: ValidationOptions,
): PropertyDecorator => {
  const validate = (value: unknown): boolean =>
    Array.isArray(value) && value.every((item: unknown) => typeof item === 'string' && test(item));
  return ValidateBy({ name, validator: { validate } }, options);
};

/** Property decorator: a list of addresses and CIDR ranges. */
export const AreCidrs = (options: ValidationOptions): PropertyDecorator =>
  everyItem('areCidrs', (item) => canonicalCidr(item) !== null, options);

/** Property decorator: a list of web origins, each exactly as a browser sends it. `*` is none. */
export const AreOrigins = (options: ValidationOptions): PropertyDecorator =>
  everyItem('areOrigins', (item) => URL.canParse(item) && new URL(item).origin === item, options);
