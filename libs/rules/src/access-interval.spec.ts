import { coverageOf, mergeIntervals, overlaps, withCertainty, type AccessInterval } from './access-interval';

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 1, hour));

/** @param hours possible from, certain from, certain until, possible until; `-`: not known */
function interval(hours: string): AccessInterval {
  const times = hours.split(' ').map((hour) => (hour === '-' ? null : at(Number(hour))));
  const [possibleFrom = null, certainFrom = null, certainUntil = null, possibleUntil = null] = times;
  return { possibleFrom, certainFrom, certainUntil, possibleUntil };
}

describe('withCertainty', () => {
  it.each([
    ['keeps two observations', '1 2 3 4', '1 2 3 4'],
    ['keeps a single observation', '1 2 2 4', '1 2 2 4'],
    ['drops a certain start without a later observation', '1 2 - 4', '1 - - 4'],
    ['drops observations in the wrong order', '1 3 2 4', '1 - - 4'],
  ])('%s', (_, given, expected) => {
    expect(withCertainty(interval(given))).toEqual(interval(expected));
  });
});

describe('overlaps', () => {
  it.each([
    ['an instant inside', '1 2 3 4', 2, 2, true],
    ['an instant in the possible part only', '1 2 3 4', 4, 4, true],
    ['an instant before', '2 3 3 4', 1, 1, false],
    ['an instant after', '1 2 3 4', 5, 5, false],
    ['an unknown beginning', '- 2 3 4', 0, 0, true],
    ['an unobserved end', '1 2 3 -', 23, 23, true],
    ['a window that contains it', '2 2 3 3', 1, 4, true],
  ])('%s', (_, given, from, to, expected) => {
    expect(overlaps(interval(given), at(from), at(to))).toBe(expected);
  });
});

describe('coverageOf', () => {
  it.each([
    ['the same interval', ['1 2 3 4'], '1 2 3 4', true],
    ['one that goes on after it', ['1 2 3 4'], '2 2 5 6', false],
    ['one that goes on only outside of the window', ['1 2 3 12'], '2 2 13 14', true],
    ['one that two together cover', ['3 3 4 6', '1 2 3 4'], '2 2 5 5', true],
    ['one that reaches over a gap', ['1 2 3 4', '5 6 7 8'], '2 2 6 6', false],
    ['an open one by an open one', ['1 2 3 -'], '2 2 3 -', true],
  ])('%s', (_, outer, inner, expected) => {
    expect(coverageOf(outer.map(interval))(interval(inner), at(0), at(10))).toBe(expected);
  });
});

describe('mergeIntervals', () => {
  it.each([
    ['joins what overlaps', ['3 4 7 8', '1 2 5 6'], ['1 2 7 8']],
    ['keeps the end of one that contains another', ['1 2 7 8', '3 4 5 6'], ['1 2 7 8']],
    ['keeps apart what does not', ['1 2 3 4', '5 6 7 8'], ['1 2 3 4', '5 6 7 8']],
    [
      'never calls the time between two observed parts certain',
      ['1 2 3 6', '4 5 6 7'],
      ['1 2 3 6', '4 5 6 7'],
    ],
    ['takes the certain part of the one that has it', ['1 - - 6', '4 5 6 7'], ['1 5 6 7']],
    ['keeps an unknown beginning and an open end', ['- 2 4 5', '3 3 6 -'], ['- 2 6 -']],
  ])('%s', (_, given, expected) => {
    expect(mergeIntervals(given.map(interval))).toEqual(expected.map(interval));
  });
});
