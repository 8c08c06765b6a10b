import type { DesiredRule } from './host-state';
import { readKept, writeKept, type KeptState, type Moment } from './kept-state';

const THEN: Moment = { bootId: 'boot', runningMs: 500_000, batterySeconds: 1_700_000_000 };

const rule = (id: string, deadline: number): DesiredRule => ({
  id,
  cidr: '10.0.0.1/32',
  protocol: 'tcp',
  ports: [22],
  deadline,
  unconfirmed: false,
});

const kept: KeptState = {
  instance: 'installation',
  state: {
    version: '7-abc',
    guarded: [{ protocol: 'tcp', ports: [22] }],
    rules: [rule('endless', Infinity), rule('timed', THEN.runningMs + 60_000)],
  },
};

const readAt = (now: Partial<Moment>, then = THEN): Record<string, number> => {
  const { state } = readKept(writeKept(kept, then), { ...then, ...now });
  return Object.fromEntries(state!.rules.map(({ id, deadline }) => [id, deadline]));
};

describe('The state file', () => {
  it('holds all that was told, without what somebody waits for', () => {
    expect(readKept(writeKept(kept, THEN), THEN)).toEqual(kept);
  });

  it('holds an installation that was never told anything', () => {
    expect(readKept(writeKept({ instance: 'new', state: null }, THEN), THEN)).toEqual({
      instance: 'new',
      state: null,
    });
  });

  it('in the same run of the machine, ends are where they were', () => {
    expect(readAt({ runningMs: THEN.runningMs + 20_000 })).toEqual({
      endless: Infinity,
      timed: THEN.runningMs + 60_000,
    });
    expect(readAt({ runningMs: THEN.runningMs + 60_000 })).toEqual({ endless: Infinity });
    expect(readAt({ runningMs: THEN.runningMs - 1 })).toEqual({ endless: Infinity });
  });

  it('after a restart of the machine, its battery’s clock says how long ago it was, and a second is given up', () => {
    const now = { bootId: 'next', runningMs: 5000, batterySeconds: THEN.batterySeconds! + 30 };
    expect(readAt(now)).toEqual({ endless: Infinity, timed: 5000 + 60_000 - 31_000 });
    expect(readAt({ ...now, batterySeconds: THEN.batterySeconds! + 59 })).toEqual({ endless: Infinity });
  });

  it.each([
    ['without a battery', { batterySeconds: null }],
    ['when the battery’s clock went back', { batterySeconds: THEN.batterySeconds! - 10 }],
    [
      'when the battery’s clock says less than the machine has run',
      { batterySeconds: THEN.batterySeconds! + 3 },
    ],
  ])('after a restart %s, nothing that ends is there', (_, now) => {
    expect(readAt({ bootId: 'next', runningMs: 5000, ...now })).toEqual({ endless: Infinity });
  });

  it('written on a machine without a battery, it says nothing of what ends on one that has it', () => {
    const now = { bootId: 'next', runningMs: 5000, batterySeconds: 1_700_000_030 };
    expect(readAt(now, { ...THEN, batterySeconds: null })).toEqual({ endless: Infinity });
  });

  it.each([
    ['half of it', writeKept(kept, THEN).slice(0, 80)],
    ['another file', '{"name": "drawbridge"}'],
    ['a port that is none', writeKept(kept, THEN).replaceAll('22', '"22; drop"')],
    ['an address that is none', writeKept(kept, THEN).replaceAll('10.0.0.1/32', 'example.com')],
  ])('%s is refused', (_, text) => {
    expect(() => readKept(text, THEN)).toThrow(/JSON|no state|cannot|does not know/);
  });
});
