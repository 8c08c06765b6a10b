import { plainToInstance, Type } from 'class-transformer';
import { IsArray, IsInt, ValidateNested, validateSync } from 'class-validator';
import { stripFieldName } from './field-message';
import { fieldMessages } from './validation-errors';

class Inner {
  @IsInt({ message: 'must be a whole number' }) port!: number;
}

class Outer {
  @IsArray() @ValidateNested({ each: true }) @Type(() => Inner) list!: Inner[];
}

const errorsOf = (list: object[]): object => fieldMessages(validateSync(plainToInstance(Outer, { list })));

describe('validation errors', () => {
  it('name an element of a list by its number', () => {
    expect(errorsOf([{ port: 1 }, { port: null }])).toEqual({ 'list.1.port': 'must be a whole number' });
  });

  it('are limited to 30 fields', () => {
    const errors = errorsOf(Array.from({ length: 500 }, () => ({ port: 'x' })));
    expect(Object.keys(errors)).toHaveLength(30);
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
