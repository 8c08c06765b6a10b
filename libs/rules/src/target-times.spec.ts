import { APPLY_TIMEOUT_MS } from './waits';
import { SLOW_TARGETS, slowerBySeconds, targetTimes } from './target-times';

describe('The times of a target', () => {
  it('are the usual ones, unless its provider is known to be slower', () => {
    expect(targetTimes('SECURITY_GROUP')).toEqual({
      closesWithinSeconds: 5,
      applyTimeoutMs: APPLY_TIMEOUT_MS,
    });
    expect(slowerBySeconds('SECURITY_GROUP')).toBe(0);
    expect(targetTimes('constructor')).toEqual(targetTimes('SECURITY_GROUP'));
    for (const type of Object.keys(SLOW_TARGETS)) {
      expect(slowerBySeconds(type)).toBeGreaterThan(0);
      // an addition may take as long as a removal
      expect(targetTimes(type).applyTimeoutMs).toBeGreaterThan(targetTimes(type).closesWithinSeconds * 1000);
    }
  });
});
