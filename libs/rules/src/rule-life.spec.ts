import { assert, constantFrom, integer, property, record, array, boolean, option } from 'fast-check';
import { intervalOf, lastCertain, RULE_EVENT_KINDS, ruleLife, type Rule } from './index';
import { observedAccess, type Shown } from './rule-life';

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const ACCESS = { credentialId: 'key', region: null };

const rule = (more: Partial<Rule> = {}): Rule => ({
  ...ruleLife.NEW,
  id: 'rule',
  state: 'present',
  revision: 3,
  providerRuleId: 'sgr-1',
  credentialId: 'key',
  possibleSince: NOW - 90_000,
  presentSince: NOW - 90_000,
  observedAt: NOW - 50_000,
  ...more,
});

/** A rule settled by a pass, as far as its access is concerned. */
function settled(
  before: Rule,
  { isRead, state, revision: _, ...shown }: Found,
  times: { now: number; comparedAt: number | null },
  read: Parameters<typeof observedAccess>[3],
): Rule {
  const isWanted = shown.unwanted === null;
  const next: Rule = {
    ...before,
    state: state ?? before.state,
    inFlightUntil: shown.inFlight ? before.inFlightUntil : null,
    dueAt: shown.dueInMs === null ? null : times.now + shown.dueInMs,
    unwantedSince: isWanted ? null : (before.unwantedSince ?? times.now),
    cause: isWanted ? null : (before.cause ?? shown.unwanted),
  };
  return isRead ? { ...next, ...observedAccess(before, shown, times, read) } : next;
}

interface Found extends Shown {
  readonly isRead: boolean;
  readonly state: Rule['state'] | null;
  readonly revision: number;
  readonly unwanted: 'SESSION_STOPPED' | null;
  readonly dueInMs: number | null;
}

describe('The life of a rule', () => {
  it('is in doubt from the intent of a call on, and certain no longer', () => {
    const call = { access: ACCESS, until: NOW + 10_000, revision: 3 };
    const added = ruleLife.intended(rule({ state: 'absent', removalSentAt: NOW - 5 }), 'add', call, NOW);
    expect(added).toMatchObject({
      state: 'unknown',
      inFlightUntil: NOW + 10_000,
      presentSince: null,
      observedAt: null,
      removalSentAt: null,
    });
    const removed = ruleLife.intended(rule(), 'remove', call, NOW);
    expect(removed).toMatchObject({ state: 'unknown', presentSince: NOW - 90_000, removalSentAt: NOW });
  });

  it('is not added when its last holder has ended since that was planned', () => {
    const call = { access: ACCESS, until: NOW, revision: 3 };
    const released = { unwantedSince: NOW - 1, cause: 'SESSION_STOPPED' } as const;
    expect(ruleLife.intended(rule({ ...released, revision: 4 }), 'add', call, NOW)).toBeNull();
    // handed over to another holder, which was known when it was planned
    expect(ruleLife.intended(rule({ ...released, revision: 3 }), 'add', call, NOW)).not.toBeNull();
    expect(ruleLife.intended(rule({ ...released, revision: 4 }), 'remove', call, NOW)).not.toBeNull();
  });

  it('recorded access that began after the read does not end before it began', () => {
    const times = { now: NOW, comparedAt: null };
    const { possibleFrom, possibleUntil } = intervalOf(rule(), 'MISSING', NOW - 10, times, NOW - 60_000);
    expect(possibleUntil).toBeGreaterThanOrEqual(possibleFrom!);
  });

  it('that another program removes a fourth time within an hour is left alone until that hour is over', () => {
    let last = rule();
    const lost = (minutesLater: number): Rule => {
      const at = NOW + minutesLater * 60_000;
      last = { ...ruleLife.lost({ ...last, state: 'present' }, at).rule, state: 'absent' };
      return last;
    };
    for (const minutes of [0, 15, 30])
      expect(lost(minutes)).toMatchObject({ isSuspended: false, dueAt: NOW + minutes * 60_000 });
    expect(lost(45)).toMatchObject({ isSuspended: true, dueAt: NOW + HOUR });
    expect(lost(61)).toMatchObject({ isSuspended: false, dueAt: NOW + 61 * 60_000 });
  });

  it.each([
    ['before the removal: access is certain until then', NOW - 20_000, NOW - 20_000],
    // it is stale, or the removal failed
    ['after the removal: access is certain until the removal', NOW - 5000, NOW - 10_000],
  ])('that a first read showed %s', (_, firstStartedAt, observedAt) => {
    const read = { startedAt: NOW - 200, firstStartedAt, endedAt: NOW - 100 };
    const seen = { observedPresent: true, presentAtStart: true, inFlight: true, providerRuleId: null };
    const before = rule({ removalSentAt: NOW - 10_000 });
    expect(observedAccess(before, seen, { now: NOW, comparedAt: null }, read)).toMatchObject({ observedAt });
  });

  it('that disappears before it was ever observed was never certain', () => {
    const before = rule({ presentSince: null, observedAt: null });
    expect(ruleLife.firstObserved(ruleLife.lost(before, NOW).rule, NOW)).toMatchObject({
      presentSince: null,
    });
  });

  it('that a host is sent is possible from then on, and ends there by itself at the latest end it was sent with', () => {
    const absent = rule({ state: 'absent', possibleSince: null, presentSince: null, observedAt: null });
    const sent = ruleLife.offered(absent, NOW + HOUR, NOW);
    expect(sent).toMatchObject({ state: 'unknown', possibleSince: NOW, offeredRevision: absent.revision });
    const offeredUntil = (endsAt: number | null): number | null =>
      ruleLife.offered(sent, endsAt, NOW).offeredUntil;
    expect([offeredUntil(NOW), offeredUntil(NOW + 2 * HOUR)]).toEqual([NOW + HOUR, NOW + 2 * HOUR]);
    expect(offeredUntil(null)).toBeGreaterThan(NOW + 1e6 * HOUR);
  });

  it('whose removal a host is sent is certain until then, and whose removal is sent again no longer', () => {
    const once = ruleLife.removalOffered(rule(), NOW);
    expect(once).toMatchObject({ removalSentAt: NOW, offeredRevision: 3, offeredUntil: null });
    expect(ruleLife.removalOffered(once, NOW + HOUR)).toEqual(once);
  });

  const settlements = record({
    state: constantFrom('absent', 'unknown', 'present', null),
    observedPresent: boolean(),
    presentAtStart: boolean(),
    inFlight: boolean(),
    isRead: boolean(),
    revision: integer({ min: 0, max: 6 }),
    unwanted: constantFrom(null, 'SESSION_STOPPED' as const),
    dueInMs: option(integer({ min: 0, max: 5000 })),
    providerRuleId: constantFrom(null, 'sgr-1', 'sgr-2'),
  });
  const moves = array(
    record({
      move: constantFrom(
        'settled', 'settled', 'settled', 'added', 'removed', 'lost', 'effective', 'withoutEffect', 'unobserved', 'taken',
        'renamed', 'firstObserved', 'stale', 'requeued', 'unproven', 'givenUp', 'forgotten', 'postponed',
        'offered', 'removalOffered',
      ), // prettier-ignore
      settlement: settlements,
      ms: integer({ min: 1, max: 90_000 }),
    }),
    { maxLength: 25 },
  );

  it('keeps certain access within possible access, and names a cause for what is unwanted', () => {
    assert(
      property(moves, (steps) => {
        let now = NOW;
        let last = rule({ state: 'absent', possibleSince: null, presentSince: null, observedAt: null });
        let comparedAt: number | null = null;
        for (const { move, settlement, ms } of steps) {
          now += ms;
          const times = { now, comparedAt };
          const read = { startedAt: now - ms / 2, firstStartedAt: now - ms, endedAt: now - ms / 3 };
          last = moved(last, move, settlement, times, read);
          if (move === 'unobserved') comparedAt = now;
          expect(violationOf(last, lastCertain(last, times), now)).toBeNull();
          for (const kind of RULE_EVENT_KINDS) expect(liesWithin(last, kind, now, times)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** The invariant that a rule breaks; null: none. */
function violationOf(last: Rule, certainUntil: number | null, now: number): string | null {
  const { presentSince, possibleSince, cause, unwantedSince, isSuspended, dueAt } = last;
  if (presentSince !== null && (possibleSince === null || possibleSince > presentSince))
    return 'it is certain before it is possible';
  if (presentSince !== null && certainUntil! > now) return 'it is certain beyond now';
  if ((cause === null) !== (unwantedSince === null)) return 'it is unwanted without a cause';
  return isSuspended && (dueAt ?? now) > now + HOUR ? 'it is suspended for more than an hour' : null;
}

/** Whether an event's certain interval lies within its possible one. */
function liesWithin(
  last: Rule,
  kind: (typeof RULE_EVENT_KINDS)[number],
  now: number,
  times: Parameters<typeof lastCertain>[1],
): boolean {
  const { possibleFrom, certainFrom, certainUntil, possibleUntil } = intervalOf(last, kind, null, times, now);
  const isInOrder = certainUntil === null || (certainFrom !== null && certainFrom <= certainUntil);
  const isWithin = possibleUntil === null || certainUntil === null || certainUntil <= possibleUntil;
  return isInOrder && isWithin && (certainFrom === null || possibleFrom! <= certainFrom);
}

/** One move, as passes and comparisons make it. */
function moved(
  last: Rule,
  move: string,
  settlement: Found,
  times: { now: number; comparedAt: number | null },
  read: { startedAt: number; firstStartedAt: number; endedAt: number },
): Rule {
  const { now } = times;
  switch (move) {
    case 'settled': {
      const isPresent = settlement.isRead && settlement.observedPresent;
      const state = isPresent ? 'present' : settlement.state === 'present' ? null : settlement.state;
      return settled(last, { ...settlement, state }, times, read);
    }
    case 'added':
    case 'removed': {
      const call = { access: ACCESS, until: now + 10_000, revision: last.revision };
      return ruleLife.intended(last, move === 'added' ? 'add' : 'remove', call, now)!;
    }
    case 'lost':
      return ruleLife.lost(last, now).rule;
    case 'effective':
      return ruleLife.effective(last, now);
    case 'withoutEffect':
      return ruleLife.withoutEffect(last, now);
    case 'unobserved':
      return ruleLife.unobserved(last, times);
    case 'taken':
      return ruleLife.taken(last, read.endedAt).rule;
    case 'renamed':
      return last.state === 'present' && last.possibleSince !== null
        ? ruleLife.renamed(last, 'sgr-3', read.endedAt)
        : last;
    case 'firstObserved':
      return last.possibleSince === null ? last : ruleLife.firstObserved(last, now);
    case 'stale':
      return last.unwantedSince === null ? last : ruleLife.stale(last, ACCESS, now, read.endedAt).rule;
    case 'requeued':
      return ruleLife.requeued(last, now);
    case 'unproven':
      return ruleLife.unproven(last, now, now);
    case 'givenUp':
      return ruleLife.givenUp(last, 'gone', now).rule;
    case 'offered':
      return ruleLife.offered(last, null, now);
    case 'removalOffered':
      return ruleLife.removalOffered(last, now);
    case 'postponed':
      return ruleLife.postponed(last, last.revision, 'later', now + 1000);
    default:
      return ruleLife.forgotten(last);
  }
}
