import { onceAMinute } from './once-a-minute';

it('What fails again and again is reported at once, and then once a minute', () => {
  const reported: number[] = [];
  let second = 0;
  const report = onceAMinute((at: number) => void reported.push(at), { now: () => 1000 * second });
  for (; second < 130; second += 1) report(second);
  expect(reported).toEqual([0, 60, 120]);
});
