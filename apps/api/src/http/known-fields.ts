import { getMetadataStorage, ValidateBy } from 'class-validator';

/**
 * Property decorator: an object with the fields of its class only. Fields that nobody knows are passed over elsewhere;
 * where leaving one out lets in more, a typo is not to do it.
 */
export function knownFieldsOnly(type: () => new () => object): PropertyDecorator {
  const fields = (): string[] => [
    ...new Set(
      getMetadataStorage()
        .getTargetValidationMetadatas(type(), '', false, false)
        .map(({ propertyName }) => propertyName),
    ),
  ];
  const oddIn = (value: unknown): string | undefined =>
    typeof value === 'object' && value !== null
      ? Object.keys(value).find((name) => !fields().includes(name))
      : undefined;
  return ValidateBy({
    name: 'knownFieldsOnly',
    validator: {
      validate: (value: unknown) => oddIn(value) === undefined,
      defaultMessage: (context) =>
        `has no field ${oddIn(context?.value)}: it may hold ${fields().join(', ')}`,
    },
  });
}
