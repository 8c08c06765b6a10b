import type { PassFacts } from '#rules';
import { DeniedAdditions, type Step } from './access-paths';

type Target = Parameters<DeniedAdditions['waitOf']>[0];

const target = (targetId: string): Target => ({ lease: { targetId } }) as Target;
const pass = (credentialId: string, desired = true): Step =>
  ({ access: { credentialId, region: null }, rules: [{ desired }] }) as unknown as Step;
const DENIED: PassFacts = {
  firstRead: null,
  lastRead: null,
  error: { kind: 'denied', message: 'not authorized' },
  sent: new Map(),
  waitMs: null,
};

describe('Denied additions', () => {
  let now: number;
  let denied: DeniedAdditions;
  const group = target('group');

  beforeEach(() => {
    now = 0;
    denied = new DeniedAdditions({ now: () => now });
    denied.note(group, pass('key'), DENIED);
  });

  it('wait twice as long after each denial, at most 30 s, with the words of the provider', () => {
    const waits: number[] = [];
    for (let denials = 0; denials < 7; denials += 1) {
      const { waitMs, message } = denied.waitOf(group, pass('key'))!;
      expect(message).toBe('not authorized');
      waits.push(waitMs);
      now += waitMs;
      expect(denied.waitOf(group, pass('key'))).toBeNull();
      denied.note(group, pass('key'), DENIED);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('concern neither removals, another target nor another credential', () => {
    expect(denied.waitOf(group, pass('key', false))).toBeNull();
    expect(denied.waitOf(target('other'), pass('key'))).toBeNull();
    expect(denied.waitOf(group, pass('other'))).toBeNull();
  });

  it('are forgotten with the first that is not denied, and not by a removal', () => {
    const read: PassFacts = { ...DENIED, error: null };
    denied.note(group, pass('key', false), read);
    expect(denied.waitOf(group, pass('key'))).not.toBeNull();
    denied.note(group, pass('key'), read);
    expect(denied.waitOf(group, pass('key'))).toBeNull();
  });
});
