import { simulate } from './simulate';

describe('In made-up histories', () => {
  it('everything that is promised holds', async () =>
    expect(await simulate('--seeds', '500')).toContain(': 0 with violations.'));

  it('the same seed is the same history', async () => {
    expect(await simulate('--seed', '4711')).toBe(await simulate('--seed', '4711'));
  });
});
