import { fullMessage, learnedFrom, rememberRoom, roomFor, type Room } from './room';
import { waitSeconds } from './waits';

const HOUR_MS = 3_600_000;
const of = (used: number, more: Partial<Room> = {}): Room => ({
  family: 4,
  used,
  limit: 60,
  limitFrom: 'DEFAULT',
  ...more,
});
const learned = (limit: number, learnedAt = 0): Room => of(limit, { limit, limitFrom: 'LEARNED', learnedAt });

describe('The room of a target', () => {
  it('is learned from a refusal, of the IP version that was refused, unless the limit is certain', () => {
    const known = of(7, { family: null, limit: 10, limitFrom: 'PROVIDER' });
    const room = [of(48), of(3, { family: 6 }), known];
    expect(learnedFrom(room, ['203.0.113.1/32 tcp 22'])).toEqual([
      of(48, { limit: 48, limitFrom: 'LEARNED' }),
      of(3, { family: 6 }),
      known,
    ]);
    expect(learnedFrom(room, ['2001:db8::1/128 tcp 22'])[1]).toMatchObject({
      limit: 3,
      limitFrom: 'LEARNED',
    });
    // another quota was meant
    expect(learnedFrom([of(0)], ['203.0.113.1/32 tcp 22'])).toEqual([of(0)]);
  });

  it.each<[string, Room[], Room, number, Room[]]>([
    ['keeps what was learned', [learned(48)], of(40), HOUR_MS, [{ ...learned(48), used: 40 }]],
    ['forgets it above', [learned(48)], of(49), HOUR_MS, [of(49)]],
    ['forgets it after a day', [learned(48)], of(40), 24 * HOUR_MS, [of(40)]],
    ['notes when it is learned', [], { ...of(48), limit: 48, limitFrom: 'LEARNED' }, 5, [learned(48, 5)]],
    ['knows no limit that is exceeded', [], of(61), HOUR_MS, []],
    [
      'has nothing learned of another IP version',
      [learned(48)],
      of(1, { family: 6 }),
      1,
      [of(1, { family: 6 })],
    ],
  ])('%s', (_, before, observed, now, remembered) => {
    expect(rememberRoom(before, [observed], now)).toEqual(remembered);
  });

  it('is that of the rule’s IP version and of the resource’s config', () => {
    const window = of(9, { family: null, config: { priorityFrom: 100, priorityTo: null } });
    const room = [of(1), of(2, { family: 6 }), window];
    expect(roomFor(room, { port: 22 }, '203.0.113.1/32 tcp 22')).toEqual([of(1)]);
    expect(roomFor(room, { priorityFrom: 100 }, '2001:db8::1/128 all *')).toEqual([room[1], window]);
  });

  it.each([
    ['SECURITY_GROUP', of(60), 'The group is full: 60 of 60 rules'],
    ['PREFIX_LIST', of(10, { limit: 10, family: null }), 'The list is full: 10 of 10 rules'],
    ['KEY_VAULT', of(60, { family: 6, isAtLeast: true }), 'The target is full: at least 60 of 60 IPv6 rules'],
  ])('names a full %s', (type, room, message) => {
    expect(fullMessage(type, room)).toBe(message);
  });
});

describe('The wait for an account', () => {
  const budget = { burst: 50, refillPerSecond: 5 };
  it.each([
    ['nothing waits', { fullInSeconds: -100, due: 0 }, 0],
    ['the burst is enough for those before', { fullInSeconds: 0, due: 39 }, 0],
    ['the share of additions is taken', { fullInSeconds: 8, due: 0 }, 0],
    ['as many wait as need ten seconds more', { fullInSeconds: 8, due: 49 }, 10],
    ['200 wait for a full bucket', { fullInSeconds: 0, due: 200 }, 35],
  ])('when %s', (_, queue, seconds) => {
    expect(waitSeconds(queue, budget)).toBe(seconds);
  });
});
