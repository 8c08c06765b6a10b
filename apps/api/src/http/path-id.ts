import { Param, ParseUUIDPipe } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { invalidField } from '../errors';

/** Handler parameter: an id in the path. Anything but a UUID is refused with 400. */
export function PathId(name = 'id'): ParameterDecorator {
  const message = 'must be a UUID';
  const uuid = new ParseUUIDPipe({
    exceptionFactory: () => invalidField(name, message),
  });
  return (target, method, index) => {
    Param(name, uuid)(target, method, index);
    const handler = method !== undefined && Object.getOwnPropertyDescriptor(target, method);
    if (handler) ApiParam({ name, schema: { type: 'string', format: 'uuid' } })(target, method, handler);
  };
}
