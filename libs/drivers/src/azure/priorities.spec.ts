import { nextFree, priorityWindow } from './priorities';

describe('Azure rule priorities', () => {
  it.each([
    [{}, 1000, 3999],
    [{ priorityFrom: 200, priorityTo: 300 }, 200, 300],
    [{ priorityFrom: 2000 }, 2000, 3999],
    [{ priorityFrom: 4000 }, 4000, 4096],
    [{ priorityTo: 2000 }, 1000, 2000],
    [{ priorityTo: 500 }, 100, 500],
  ])('with config %j range from %i to %i', (config, from, to) => {
    expect(priorityWindow(config)).toEqual({ from, to });
  });

  it('returns the lowest free priority, and null when all are taken', () => {
    const window = { from: 1000, to: 1002 };
    expect(nextFree(window, new Set())).toBe(1000);
    expect(nextFree(window, new Set([1000, 1001]))).toBe(1002);
    expect(nextFree(window, new Set([1000, 1001, 1002]))).toBeNull();
    expect(nextFree({ from: 300, to: 200 }, new Set())).toBeNull();
  });
});
