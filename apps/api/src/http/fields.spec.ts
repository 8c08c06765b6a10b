import { plainToInstance } from 'class-transformer';
import { IsInt, validateSync } from 'class-validator';
import { fieldMessages } from '../errors/validation-errors';
import { listOf, Required } from './fields';

class Inner {
  @IsInt({ message: 'must be a whole number' }) port!: number;
}

class Outer {
  @Required(listOf(Inner, 500, 'ports')) list!: Inner[];
}

const errorsOf = (list: readonly unknown[]): object =>
  fieldMessages(validateSync(plainToInstance(Outer, { list })));

describe('A list of objects', () => {
  it('is accepted', () => expect(errorsOf([{ port: 1 }, { port: 2 }])).toEqual({}));

  it.each([[[]], [[{ port: 1 }]], null, 22, 'port'])('with %j, which is no object, is refused', (element) => {
    expect(errorsOf([{ port: 1 }, element])).toMatchObject({ list: 'must hold ports' });
  });
});
