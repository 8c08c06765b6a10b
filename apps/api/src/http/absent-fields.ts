import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateIf } from 'class-validator';

/** Property decorator: the field may be left out. Unlike `@IsOptional()`, null is a value, for the other checks to judge. */
export const mayBeAbsent = (): PropertyDecorator =>
  ValidateIf((_object: unknown, value: unknown) => value !== undefined);

/** Property decorator: the field may be left out, and `null` says the same. */
export const leftOutWhenNull = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => value ?? undefined),
    IsOptional(),
  );
