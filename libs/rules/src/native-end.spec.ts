import { dueRule } from './planner.testing';
import type { DueHolder } from './due-rule';
import { endsTooEarly, nativeEnd } from './native-end';
import { planChanges } from './planner';
import type { ObservedRule } from './provider';
import { NEW } from './rule';
import { intended } from './rule-life';

const NOW_S = 1_800_000_000;
const DAY = 86_400;
const CLOCK = { maxSeconds: 7 * DAY, marginSeconds: 120, now: NOW_S * 1000 };

const holder = (expiresAt: number | null, status: DueHolder['status'] = 'APPLIED'): DueHolder =>
  ({ status, expiresAt }) as DueHolder;
const rule = (...holders: DueHolder[]): ReturnType<typeof dueRule> =>
  dueRule({ ruleId: 'rule', key: 'key', recordedId: 'id', holders }, true);
const shown = (endsAt?: number, ownRuleId: string | null = 'rule'): ObservedRule => ({
  key: 'key',
  providerRuleId: 'id',
  ownRuleId,
  ...(endsAt !== undefined && { endsAt }),
});
const planned = (
  holders: readonly DueHolder[],
  ...observed: ObservedRule[]
): (readonly [string, number | undefined])[] =>
  planChanges([rule(...holders)], observed, CLOCK).map((change) => [
    change.action,
    change.action === 'remove' ? undefined : change.endsAt && change.endsAt - NOW_S,
  ]);

describe('A rule that its provider ends', () => {
  it('ends a margin after its last live holder, as late as the provider allows', () => {
    const ends = [
      [holder(NOW_S + 60), holder(NOW_S + 3600)],
      [holder(NOW_S + 60), holder(NOW_S + 3600, 'REMOVING')],
      [holder(NOW_S + 30 * DAY)],
      [holder(NOW_S + 60), holder(null)],
    ].map((holders) => nativeEnd(holders, CLOCK) - NOW_S);
    expect(ends).toEqual([3720, 180, 7 * DAY, 7 * DAY]);
  });

  it('is renewed when a holder was extended, and when a tenth of the longest life is left', () => {
    expect(endsTooEarly(NOW_S + 3720, NOW_S + 3720, CLOCK)).toBe(false);
    expect(endsTooEarly(NOW_S + 3720, NOW_S + 7320, CLOCK)).toBe(true);
    const latest = NOW_S + 7 * DAY;
    expect([6.9, 0.71, 0.7, 0.1].map((days) => endsTooEarly(NOW_S + days * DAY, latest, CLOCK))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('is added with its end, and renewed only where it is ours and ends too early', () => {
    const hour = [holder(NOW_S + 3600)];
    expect(planned(hour)).toEqual([['add', 3720]]);
    expect(planned(hour, shown(NOW_S + 60))).toEqual([['renew', 3720]]);
    expect(planned(hour, shown(NOW_S + 3720))).toEqual([]);
    expect(planned(hour, shown(NOW_S + 7200))).toEqual([]);
    expect(planned(hour, shown(NOW_S + 60, null))).toEqual([]);
    expect(planned(hour, shown())).toEqual([]);
  });

  it('is not renewed after its last holder, whether that was planned or has happened since', () => {
    expect(planChanges([{ ...rule(holder(NOW_S)), mayOpen: false }], [shown(NOW_S + 60)], CLOCK)).toEqual([]);
    const row = { ...NEW, id: 'rule', state: 'present', presentSince: 5, revision: 3 } as const;
    const call = { access: { credentialId: 'key', region: null }, until: 9, revision: 2 };
    expect(intended({ ...row, unwantedSince: 7 }, 'renew', call, 8)).toBeNull();
    expect(intended(row, 'renew', call, 8)).toEqual({ ...row, state: 'unknown', inFlightUntil: 9 });
  });
});
