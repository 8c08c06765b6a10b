import { AccessEnd, noteServerTime, serverNow } from './clock';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const iso = (time: number): string => new Date(time).toISOString();
const header = (time: number): string => new Date(time).toUTCString();

describe('The server’s time', () => {
  it.each([3 * HOUR, -3 * HOUR])('is that of its answers, %i ms from the clock of this machine', (ahead) => {
    noteServerTime(header(Date.now() + ahead), 0);
    expect(Math.round((serverNow() - Date.now()) / MINUTE)).toBe(ahead / MINUTE);
  });

  it('stays as it was when an answer has none', () => {
    noteServerTime(header(Date.now() + HOUR), 0);
    noteServerTime(null, 0);
    expect(Math.round((serverNow() - Date.now()) / MINUTE)).toBe(60);
  });
});

describe('The end of access', () => {
  const created = Date.now() + 3 * HOUR;
  const expiresAt = iso(created + HOUR);
  const begin = (): AccessEnd =>
    AccessEnd.of({ createdAt: iso(created), expiresAt, leaseUntil: iso(created + 5 * MINUTE) });
  const minutes = (end: AccessEnd): number => Math.round((end.latest.getTime() - created) / MINUTE);

  it('is that of the lease, by the instants of the server', () => {
    const end = begin();
    expect([minutes(end), Math.round(end.leftMs / MINUTE)]).toEqual([5, 5]);
  });

  it('moves on with a renewal, and with one that may have been made, but not beyond the session’s', () => {
    const end = begin();
    end.renew({ expiresAt, leaseUntil: iso(created + 10 * MINUTE) });
    expect(minutes(end)).toBe(10);
    end.mayBeRenewed(20 * 60);
    expect(minutes(end)).toBe(20);
    end.mayBeRenewed(90 * 60);
    expect(minutes(end)).toBe(60);
  });

  it('is the same in another process of this machine', () => {
    const end = new AccessEnd(JSON.parse(JSON.stringify(begin().saved)) as ReturnType<typeof begin>['saved']);
    expect([minutes(end), Math.round(end.leftMs / MINUTE)]).toEqual([5, 5]);
  });
});
