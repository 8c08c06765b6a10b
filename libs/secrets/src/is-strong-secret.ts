import { ValidateBy } from 'class-validator';
import { estimatedBits, MIN_SECRET_BITS } from './secret-strength';

/** Property decorator: a random text. The message names the variable and how to generate one, never the value. */
export const IsStrongSecret = (): PropertyDecorator =>
  ValidateBy({
    name: 'isStrongSecret',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && estimatedBits(value) >= MIN_SECRET_BITS,
      defaultMessage: (given) =>
        `${given?.property} must be a random text of at least ${MIN_SECRET_BITS} bits, without repeated characters or words: make one with openssl rand -hex 32`,
    },
  });
