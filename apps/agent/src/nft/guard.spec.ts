import { compare } from './guard';
import type { Listing } from './listing';

const NOW = 1_000_000;
const A = 'host4_port 10.0.0.1 . 6 . 22';
const B = 'host4_port 10.0.0.2 . 6 . 22';

const listing = (...elements: [string, number][]): Listing => ({
  structure: '',
  secondsLeft: new Map(elements),
  dropped: 0,
});
const read = (
  desired: [string, number][],
  ...listed: [string, number][]
): { present: string[]; exact: boolean } => {
  const { present, exact } = compare(new Map(desired), listing(...listed), NOW, NOW + 20).observed;
  return { present: [...present], exact };
};

describe('A table that was read back', () => {
  it('is exact when it holds the desired elements with their deadlines, and no others', () => {
    expect(
      read(
        [
          [A, NOW + 60_000],
          [B, Infinity],
        ],
        [A, 59],
        [B, Infinity],
      ),
    ).toEqual({ present: [A, B], exact: true });
  });

  it.each([
    ['is missing', []],
    ['expires too late', [[A, 63]]],
    ['expires too early', [[A, 57]]],
    ['does not expire', [[A, Infinity]]],
  ] as [string, [string, number][]][])('does not count an element as present when it %s', (_, listed) => {
    expect(read([[A, NOW + 60_000]], ...listed)).toEqual({ present: [], exact: false });
  });

  it('does not count an element as present when it expires and should not', () => {
    expect(read([[A, Infinity]], [A, 1000])).toEqual({ present: [], exact: false });
  });

  it('is not exact with an unexpected element, which is known for the next change', () => {
    const { observed, known } = compare(new Map(), listing([A, 30]), NOW, NOW + 20);
    expect([observed.exact, known.get(A)]).toEqual([false, NOW + 20 + 30_000]);
  });

  it('is exact whether or not an element that has just expired is still listed', () => {
    expect(read([[A, NOW + 10]])).toEqual({ present: [], exact: true });
    expect(read([], [A, 0])).toEqual({ present: [], exact: true });
  });

  it('has no elements when there is no table', () => {
    expect(compare(new Map([[A, Infinity]]), null, NOW, NOW).observed).toEqual({
      present: new Set(),
      exact: false,
    });
  });
});
