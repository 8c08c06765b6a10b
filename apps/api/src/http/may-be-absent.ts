import { ValidateIf } from 'class-validator';

/** Property decorator: the field may be left out. Unlike `@IsOptional()`, null is a value, for the other checks to judge. */
export const MayBeAbsent = (): PropertyDecorator =>
  ValidateIf((_object: unknown, value: unknown) => value !== undefined);
