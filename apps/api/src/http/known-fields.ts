import { getMetadataStorage } from 'class-validator';
import { checkedBy } from './checked-by';

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
  return checkedBy('knownFieldsOnly', (value) => {
    const unknown = unknownFieldOf(value);
    return unknown === undefined ? null : `has no field ${unknown}: it may hold ${fields().join(', ')}`;
  });
}
