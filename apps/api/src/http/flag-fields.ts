import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';

/** Property decorator: true or false, in a JSON body. */
export const IsFlag = (): PropertyDecorator => IsBoolean({ message: 'must be true or false' });

/** Property decorator: `true` or `false`, as text in a query. */
export const IsFlagInQuery = (): PropertyDecorator =>
  applyDecorators(
    IsFlag(),
    Transform(({ value }: { value: unknown }) =>
      value === 'true' ? true : value === 'false' ? false : value,
    ),
  );
