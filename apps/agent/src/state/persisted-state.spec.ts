import type { DesiredRule } from './host-state';
import { desiredRule } from './host-state.testing';
import { parseState, serializeState, type ClockReading, type PersistedState } from './persisted-state';

const THEN: ClockReading = { bootId: 'boot', runningMs: 500_000, batterySeconds: 1_700_000_000 };

const rule = (id: string, deadline: number): DesiredRule => desiredRule(id, { deadline });

const persisted: PersistedState = {
  instance: 'installation',
  state: {
    version: '7-abc',
    heardAt: THEN.runningMs - 10_000,
    guarded: [{ protocol: 'tcp', ports: [22] }],
    rules: [rule('endless', Infinity), rule('timed', THEN.runningMs + 60_000)],
  },
};

const readAt = (now: Partial<ClockReading>, then = THEN): Record<string, number> => {
  const { state } = parseState(serializeState(persisted, then), { ...then, ...now });
  return Object.fromEntries(state!.rules.map(({ id, deadline }) => [id, deadline]));
};

describe('The state file', () => {
  it('restores the whole state, with no rule unconfirmed', () => {
    expect(parseState(serializeState(persisted, THEN), THEN)).toEqual(persisted);
  });

  it('restores an installation that never received a state', () => {
    expect(parseState(serializeState({ instance: 'new', state: null }, THEN), THEN)).toEqual({
      instance: 'new',
      state: null,
    });
  });

  it('keeps deadlines while the machine was not restarted', () => {
    expect(readAt({ runningMs: THEN.runningMs + 20_000 })).toEqual({
      endless: Infinity,
      timed: THEN.runningMs + 60_000,
    });
    expect(readAt({ runningMs: THEN.runningMs + 60_000 })).toEqual({ endless: Infinity });
    expect(readAt({ runningMs: THEN.runningMs - 1 })).toEqual({ endless: Infinity });
  });

  it('after a restart of the machine, deadlines are recomputed from the real-time clock, one second early', () => {
    const now = { bootId: 'next', runningMs: 5000, batterySeconds: THEN.batterySeconds! + 30 };
    expect(readAt(now)).toEqual({ endless: Infinity, timed: 5000 + 60_000 - 31_000 });
    expect(readAt({ ...now, batterySeconds: THEN.batterySeconds! + 59 })).toEqual({ endless: Infinity });
  });

  it('a rule that allows a silence of the server is dropped when it was longer, restarted or not', () => {
    const state = {
      ...persisted.state!,
      rules: [
        desiredRule('patient', {
          deadline: THEN.runningMs + 600_000,
          maxSilenceMs: 60_000,
          holders: ['ann'],
        }),
        desiredRule('endless'),
      ],
    };
    const readAfter = (seconds: number, bootId: string): string[] => {
      const moment = {
        bootId,
        runningMs: bootId === 'boot' ? THEN.runningMs + seconds * 1000 : 5000,
        batterySeconds: THEN.batterySeconds! + seconds,
      };
      const text = serializeState({ instance: 'installation', state }, THEN);
      return parseState(text, moment).state!.rules.map(({ id }) => id);
    };
    // it was heard 10 seconds before the file was written; after a restart one second is added
    expect([readAfter(49, 'boot'), readAfter(50, 'boot')]).toEqual([['patient', 'endless'], ['endless']]);
    expect([readAfter(48, 'next'), readAfter(49, 'next')]).toEqual([['patient', 'endless'], ['endless']]);
  });

  it.each([
    ['without a real-time clock', { batterySeconds: null }],
    ['when the real-time clock went back', { batterySeconds: THEN.batterySeconds! - 10 }],
    ['when less real time has passed than the machine has run', { batterySeconds: THEN.batterySeconds! + 3 }],
  ])('after a restart %s, rules with an end are dropped', (_, now) => {
    expect(readAt({ bootId: 'next', runningMs: 5000, ...now })).toEqual({ endless: Infinity });
  });

  it('written without a real-time clock, rules with an end are dropped on a machine that has one', () => {
    const now = { bootId: 'next', runningMs: 5000, batterySeconds: 1_700_000_030 };
    expect(readAt(now, { ...THEN, batterySeconds: null })).toEqual({ endless: Infinity });
  });

  it.each([
    ['a truncated file', serializeState(persisted, THEN).slice(0, 80)],
    ['a file of another program', '{"name": "drawbridge"}'],
    ['an invalid port', serializeState(persisted, THEN).replaceAll('22', '"22; drop"')],
    ['an invalid address', serializeState(persisted, THEN).replaceAll('10.0.0.1/32', 'example.com')],
  ])('%s is refused', (_, text) => {
    expect(() => parseState(text, THEN)).toThrow(/JSON|no state|cannot|does not know/);
  });
});
