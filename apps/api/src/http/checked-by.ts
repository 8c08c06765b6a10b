import { ValidateBy, type ValidationOptions } from 'class-validator';

/**
 * Property decorator: a check that class-validator does not have.
 * @param refusalOf the message about a value that is refused; null: it is not. It gets the object that has the field, too
 */
export const checkedBy = (
  name: string,
  refusalOf: (value: unknown, owner: object) => string | null,
  options?: ValidationOptions,
): PropertyDecorator =>
  ValidateBy(
    {
      name,
      validator: {
        validate: (value: unknown, given) => refusalOf(value, given!.object) === null,
        defaultMessage: (given) => refusalOf(given!.value, given!.object) ?? '',
      },
    },
    options,
  );
