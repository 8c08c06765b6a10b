import { simulate } from './simulate';

describe('The simulation', () => {
  it('finds no violation in 500 seeds', async () =>
    expect(await simulate('--seeds', '500')).toContain(': 0 with violations.'));

  it('repeats the same history for the same seed', async () => {
    expect(await simulate('--seed', '4711')).toBe(await simulate('--seed', '4711'));
  });
});
