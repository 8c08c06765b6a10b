import { groupRoom, nextFree, priorityWindow } from './priorities';

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

  it('are the room of the resources that may use fewer than the group takes rules', () => {
    const rules = [100, 101, 101, 300].map((priority, index) => ({ priority, isInbound: index !== 2 }));
    const windows = [{ priorityFrom: 101, priorityTo: 200 }, { priorityTo: 500 }, {}];
    const none = { priorityFrom: null, priorityTo: null };
    expect(groupRoom(rules, [...windows, windows[0]!])).toEqual([
      { family: null, used: 4, limit: 1000, limitFrom: 'PROVIDER' },
      { family: null, used: 1, limit: 100, limitFrom: 'CONFIG', config: windows[0] },
      { family: null, used: 3, limit: 401, limitFrom: 'CONFIG', config: { ...none, ...windows[1] } },
    ]);
  });
});
