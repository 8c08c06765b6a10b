import { getMetadataStorage, ValidateBy } from 'class-validator';

/**
 * Property decorator: refuses fields that the class does not declare. Elsewhere unknown fields are ignored; use it where an
 * omitted field allows more access, so that a typo does not widen access.
 */
export function knownFieldsOnly(type: () => new () => object): PropertyDecorator {
  const fields = (): string[] => [
    ...new Set(
      getMetadataStorage()
        .getTargetValidationMetadatas(type(), '', false, false)
        .map(({ propertyName }) => propertyName),
    ),
  ];
  const unknownFieldOf = (value: unknown): string | undefined =>
    typeof value === 'object' && value !== null
      ? Object.keys(value).find((name) => !fields().includes(name))
      : undefined;
  return ValidateBy({
    name: 'knownFieldsOnly',
    validator: {
      validate: (value: unknown) => unknownFieldOf(value) === undefined,
      defaultMessage: (context) =>
        `has no field ${unknownFieldOf(context?.value)}: it may hold ${fields().join(', ')}`,
    },
  });
}
