import { connectionProblem } from './certificate-problem';

const coded = (code: string, cause?: Error): Error => Object.assign(new Error('hidden', { cause }), { code });

describe('connectionProblem', () => {
  it.each([
    [coded('ENOTFOUND'), 'its name is not known (ENOTFOUND)'],
    [
      new Error('There was no answer', { cause: coded('ECONNREFUSED') }),
      'it refused the connection (ECONNREFUSED)',
    ],
    [coded('CERT_HAS_EXPIRED'), 'its certificate has expired (CERT_HAS_EXPIRED)'],
    [coded('ETIMEDOUT'), null],
    ['no error', null],
  ])('of %s', (error, problem) => {
    expect(connectionProblem(error)).toBe(problem);
  });
});
