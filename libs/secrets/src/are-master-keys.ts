import { ValidateBy } from 'class-validator';
import { MasterKeys } from './master-keys';

const masterKeysProblem = (value: unknown): string | null => {
  try {
    MasterKeys.parse(typeof value === 'string' ? value : '');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'MASTER_KEYS is malformed';
  }
};

/** Property decorator: a valid `MASTER_KEYS`. The message says what is wrong, without the value. */
export const AreMasterKeys = (): PropertyDecorator =>
  ValidateBy({
    name: 'areMasterKeys',
    validator: {
      validate: (value: unknown) => masterKeysProblem(value) === null,
      defaultMessage: (given) => masterKeysProblem(given?.value) ?? '',
    },
  });
