import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateIf } from 'class-validator';

/** Property decorator: the field is optional. Unlike with `@IsOptional()`, null is validated by the other checks. */
export const mayBeAbsent = (): PropertyDecorator =>
  ValidateIf((_object: unknown, value: unknown) => value !== undefined);

/** Property decorator: the field is optional, and null is treated as absent. */
export const nullAsAbsent = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => value ?? undefined),
    IsOptional(),
  );
