import { claimOf, conditionsRefusal, isAllowed, sameConditions } from './conditions';

describe('isAllowed', () => {
  it.each<[string, string[], unknown, boolean]>([
    ['environment', ['production'], 'production', true],
    ['environment', ['staging', 'production'], 'production', true],
    ['environment', ['production'], 'Production', false],
    ['environment', ['production'], ['production'], false],
    ['environment', ['production'], undefined, false],
    ['environment', ['null'], null, false],
    ['environment', ['[object Object]'], {}, false],
    ['run_number', ['7'], 7, true],
    ['run_number', ['7.5'], 7.5, false],
    ['run_number', ['9007199254740992'], 9_007_199_254_740_992, false],
    ['ref_protected', ['true'], true, true],
    ['ref', ['refs/heads/release/*'], 'refs/heads/release/1', true],
    ['ref', ['refs/heads/release/*'], 'refs/heads/release/', true],
    ['ref', ['refs/heads/release/*'], 'refs/heads/released', false],
    ['ref', ['refs/heads/main'], 'refs/heads/main2', false],
    ['job_workflow_ref', ['octo/ci/deploy.yml@*'], 'octo/ci/deploy.yml@refs/heads/main', true],
    ['job_workflow_ref', ['octo/ci/deploy.yml@*'], 'octo/ci/deploy.yml.evil@refs/heads/main', false],
    // a text that was stored before a rule about its form
    ['environment', ['prod*'], 'production', false],
  ])('%s in %j: %j is %s', (claim, allowed, found, expected) => {
    expect(isAllowed(claim, allowed, found)).toBe(expected);
  });
});

describe('conditionsRefusal', () => {
  it('takes as many claims and values as the limits say, and no more', () => {
    const many = (claims: number, values: number): object =>
      Object.fromEntries(
        Array.from({ length: claims }, (_, index) => [`c${index}`, Array.from({ length: values }, String)]),
      );
    expect(conditionsRefusal(many(20, 20))).toBeNull();
    expect(conditionsRefusal(many(21, 1))).toContain('at most 20 claims');
    expect(conditionsRefusal(many(1, 21))).toContain('1 to 20 texts');
    expect(conditionsRefusal({ c: ['x'.repeat(500)] })).toBeNull();
    expect(conditionsRefusal({ c: ['x'.repeat(501)] })).toContain('500 characters');
  });

  it.each(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti'])('refuses %s', (claim) => {
    expect(conditionsRefusal({ [claim]: ['x'] })).toContain(claim);
  });
});

it('claimOf returns no member of the prototype', () => {
  expect(claimOf({}, 'constructor')).toBeUndefined();
  expect(claimOf({ constructor: 'x' }, 'constructor')).toBe('x');
});

it('sameConditions does not depend on the order of claims', () => {
  expect(sameConditions({ a: ['1'], b: ['2'] }, { b: ['2'], a: ['1'] })).toBe(true);
  expect(sameConditions({ a: ['1'] }, { a: ['2'] })).toBe(false);
});
