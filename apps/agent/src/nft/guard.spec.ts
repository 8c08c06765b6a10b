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
const found = (
  desired: [string, number][],
  ...listed: [string, number][]
): { standing: string[]; exact: boolean } => {
  const { standing, exact } = compare(new Map(desired), listing(...listed), NOW, NOW + 20).found;
  return { standing: [...standing], exact };
};

describe('What was read back', () => {
  it('is exact when everything stands with its end, and nothing else is there', () => {
    expect(
      found(
        [
          [A, NOW + 60_000],
          [B, Infinity],
        ],
        [A, 59],
        [B, Infinity],
      ),
    ).toEqual({ standing: [A, B], exact: true });
  });

  it.each([
    ['is missing', []],
    ['ends too late', [[A, 63]]],
    ['ends too early', [[A, 57]]],
    ['does not end', [[A, Infinity]]],
  ] as [string, [string, number][]][])('does not stand when it %s', (_, listed) => {
    expect(found([[A, NOW + 60_000]], ...listed)).toEqual({ standing: [], exact: false });
  });

  it('does not stand when it ends and should not', () => {
    expect(found([[A, Infinity]], [A, 1000])).toEqual({ standing: [], exact: false });
  });

  it('is not exact when somebody else is let in, and what is so is known for the next change', () => {
    const { found: read, known } = compare(new Map(), listing([A, 30]), NOW, NOW + 20);
    expect([read.exact, known.get(A)]).toEqual([false, NOW + 20 + 30_000]);
  });

  it('is exact when what has just ended is still listed, or no longer', () => {
    expect(found([[A, NOW + 10]])).toEqual({ standing: [], exact: true });
    expect(found([], [A, 0])).toEqual({ standing: [], exact: true });
  });

  it('is nothing without a table', () => {
    expect(compare(new Map([[A, Infinity]]), null, NOW, NOW).found).toEqual({
      standing: new Set(),
      exact: false,
    });
  });
});
