import { runCase } from '../harness/loading/one-case';
import { PLANTED_DRIVERS } from './planted-drivers';

describe('A driver is found that', () => {
  it.each(PLANTED_DRIVERS.map((planted) => [planted.what, planted] as const))(
    '%s',
    async (_, { suite, test, edit }) => {
      // it passes as it is, so that nothing but the error makes it fail
      await runCase(suite, test, []);
      await expect(runCase(suite, test, [edit])).rejects.toMatchObject({ name: 'AssertionError' });
    },
  );
});
