import { Type } from 'class-transformer';
import { IsArray, IsInt, IsString, ValidateNested, validateSync } from 'class-validator';
import { plainToInstance } from 'class-transformer';
import { validationFailed } from './validation-errors';

class Inner {
  @IsInt({ message: 'must be a whole number' }) port!: number;
}

class Outer {
  @IsString() name!: string;
  @ValidateNested() @Type(() => Inner) config!: Inner;
  @IsArray() @ValidateNested({ each: true }) @Type(() => Inner) list!: Inner[];
}

const failureOf = (body: object): ReturnType<typeof validationFailed> =>
  validationFailed(validateSync(plainToInstance(Outer, body)));

describe('validation errors', () => {
  it('name nested fields by their path, one message each', () => {
    const failure = failureOf({ config: { port: 'x' }, list: [{ port: 1 }, { port: null }] });
    expect(failure.getStatus()).toBe(400);
    expect(failure.extras.validationErrors).toEqual({
      name: 'name must be a string',
      'config.port': 'must be a whole number',
      'list.1.port': 'must be a whole number',
    });
    expect(failure.message).toBe(
      'name must be a string; config.port must be a whole number; list.1.port must be a whole number',
    );
  });

  it('stay short however much is wrong', () => {
    const list = Array.from({ length: 500 }, () => ({ port: 'x' }));
    const failure = failureOf({ name: 'a', config: { port: 1 }, list });
    expect(Object.keys(failure.extras.validationErrors ?? {})).toHaveLength(20);
  });
});
