import type { Traffic } from '#rules';
import { desiredRule } from '../state/host-state.testing';
import { bounded, boundedRule, NO_LIMITS } from './limits';

const tcp = (...ports: number[]): Traffic => ({ protocol: 'tcp', ports });
const ALL: Traffic = { protocol: 'all', ports: [] };

describe('The limits of a host', () => {
  it('keep the server from guarding other ports, and say so', () => {
    const { allowed, refused } = bounded({ ...NO_LIMITS, only: [tcp(22, 5432)] }, [tcp(22, 80)]);
    expect(allowed).toEqual([tcp(22)]);
    expect(refused).toEqual([{ ...tcp(80), reason: expect.stringContaining('--only') as string }]);
  });

  it('keep some ports unguarded, whatever is guarded', () => {
    const limits = { ...NO_LIMITS, never: [tcp(22)] };
    expect(bounded(limits, [tcp(22, 80)])).toEqual({
      allowed: [tcp(80)],
      refused: [{ ...tcp(22), reason: expect.stringContaining('--never') as string }],
    });
    // the table exempts the port from it
    expect(bounded(limits, [ALL]).allowed).toEqual([ALL]);
  });

  it('reduce a rule, and refuse one that is beyond them', () => {
    const limits = { ...NO_LIMITS, only: [tcp(22)] };
    expect(boundedRule(limits, desiredRule('a', ALL))).toEqual([desiredRule('a', tcp(22))]);
    expect(boundedRule(limits, desiredRule('b', tcp(80)))).toContain('--only');
    expect(boundedRule({ ...NO_LIMITS, never: [tcp(22)] }, desiredRule('c'))).toContain('--never');
  });
});
