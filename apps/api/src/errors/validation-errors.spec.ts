import { Type } from 'class-transformer';
import { IsArray, IsInt, IsOptional, IsString, ValidateNested, validateSync } from 'class-validator';
import { plainToInstance } from 'class-transformer';
import { badRequest } from './api-error';
import { stripFieldName } from './field-message';
import { fieldMessages, validationFailed } from './validation-errors';

class Inner {
  @IsInt({ message: 'must be a whole number' }) port!: number;
}

class Optional {
  @IsOptional() @IsString({ message: 'note must be a text' }) note?: string;
}

class Outer {
  @IsString() name!: string;
  @ValidateNested() @Type(() => Inner) config!: Inner;
  @IsArray() @ValidateNested({ each: true }) @Type(() => Inner) list!: Inner[];
}

const failureOf = (body: object): ReturnType<typeof validationFailed> =>
  validationFailed(validateSync(plainToInstance(Outer, body)));

describe('validation errors', () => {
  it('name nested fields by their path, with one message each that follows the name', () => {
    const failure = failureOf({ name: 4, config: { port: 'x' }, list: [{ port: 1 }, { port: null }] });
    expect(failure.getStatus()).toBe(400);
    expect(failure.extras.validationErrors).toEqual({
      name: 'must be a string',
      'config.port': 'must be a whole number',
      'list.1.port': 'must be a whole number',
    });
    expect(failure.message).toBe(
      'name must be a string; config.port must be a whole number; list.1.port must be a whole number',
    );
  });

  it('report a missing field as required, whatever its checks report', () => {
    const failure = failureOf({ config: {}, list: [] });
    expect(failure.extras.validationErrors).toEqual({ name: 'is required', 'config.port': 'is required' });
    expect(failure.message).toBe('name is required; config.port is required');
  });

  it('do not report a missing optional field', () => {
    expect(validateSync(plainToInstance(Optional, {}))).toEqual([]);
    expect(fieldMessages(validateSync(plainToInstance(Optional, { note: 3 })))).toEqual({
      note: 'must be a text',
    });
  });

  it('are limited to 30 fields', () => {
    const list = Array.from({ length: 500 }, () => ({ port: 'x' }));
    const failure = failureOf({ name: 'a', config: { port: 1 }, list });
    expect(Object.keys(failure.extras.validationErrors ?? {})).toHaveLength(30);
  });

  it('of badRequest() have the same format', () => {
    const { message, extras } = badRequest('id must be a UUID', {
      id: 'id must be a UUID',
      size: 'must be 1',
    });
    expect(message).toBe('id must be a UUID');
    expect(extras.validationErrors).toEqual({ id: 'must be a UUID', size: 'must be 1' });
  });

  it.each([
    ['each value in scopes must be a string', 'scopes', 'elements must be a string'],
    ['each value in nested property list must be either object or array', 'list', 'elements must be objects'],
    ['nested property config must be either object or array', 'config', 'must be an object'],
    ['port must be a number', 'config.port', 'must be a number'],
    ['config.port must be a number', 'config.port', 'must be a number'],
    ['portable only', 'port', 'portable only'],
  ])('%s', (message, field, expected) => {
    expect(stripFieldName(message, field)).toBe(expected);
  });
});
