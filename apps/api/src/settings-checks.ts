import { ValidateBy, type ValidationOptions } from 'class-validator';
import { canonicalCidr } from '#rules';
import { MasterKeys } from '#secrets';

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

const masterKeysProblem = (value: unknown): string | null => {
  try {
    MasterKeys.parse(typeof value === 'string' ? value : '');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'MASTER_KEYS is malformed';
  }
};

/** Property decorator: the text of `MASTER_KEYS`. The refusal says what is wrong, without the value. */
export const AreMasterKeys = (): PropertyDecorator =>
  ValidateBy({
    name: 'areMasterKeys',
    validator: {
      validate: (value: unknown) => masterKeysProblem(value) === null,
      defaultMessage: (given) => masterKeysProblem(given?.value) ?? '',
    },
  });
