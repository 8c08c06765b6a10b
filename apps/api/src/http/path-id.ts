import { Param, ParseUUIDPipe } from '@nestjs/common';
import { badRequest } from '../errors';

/** Handler parameter: an id in the path. What is no UUID is refused with 400. */
export const PathId = (name = 'id'): ParameterDecorator =>
  Param(
    name,
    new ParseUUIDPipe({
      exceptionFactory: () => badRequest(`${name} must be a UUID`, { [name]: `${name} must be a UUID` }),
    }),
  );
