import { timeText } from './times';

const NOW = new Date(2026, 0, 31, 12, 0);
const at = (...fields: [number, number, number, number, number, number?]): string =>
  timeText(new Date(...fields), NOW.getTime());

describe('timeText', () => {
  it('shows the time of this machine, and the distance in its largest units', () => {
    expect(at(2026, 0, 31, 12, 43)).toBe('12:43 (in 43 min)');
    expect(at(2026, 0, 31, 14, 0)).toBe('14:00 (in 2 h)');
    expect(at(2026, 0, 31, 14, 5)).toBe('14:05 (in 2 h 5 min)');
    expect(at(2026, 0, 31, 11, 59, 30)).toBe('11:59 (30 s ago)');
    expect(at(2026, 0, 31, 12, 0)).toBe('12:00 (now)');
  });

  it('shows the date where it is a day away or more, and never where there is no time', () => {
    expect(at(2026, 1, 1, 9, 5)).toBe('09:05 (in 21 h 5 min)');
    expect(at(2026, 0, 30, 11, 0)).toBe('2026-01-30 11:00 (1 day ago)');
    expect(at(2026, 0, 21, 12, 0)).toBe('2026-01-21 12:00 (10 days ago)');
    expect(timeText(null)).toBe('never');
  });
});
