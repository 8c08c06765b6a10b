import type { AccessFilter, AccessRow } from '#engine-store/port';
import { AccessReportBench, hour, hours, timesOf } from '../builders/audit/access-report';

describe('The access report', () => {
  const on = new AccessReportBench();

  beforeEach(() => on.renew());

  describe('of intervals that are over', () => {
    it('returns user, target, cause and the certain and possible times', async () => {
      await on.closed(hours(1, 2, 3, 4), 4);
      expect(await on.at(2)).toEqual([
        {
          resourceId: on.resourceId,
          resourceName: 'database',
          provider: 'AWS',
          identifier: 'sg-0123456789abcdef0',
          address: '203.0.113.1/32',
          protocol: 'tcp',
          ports: '22',
          holderKind: 'SESSION',
          holderId: on.sessionId,
          userEmail: on.org.email,
          reason: null,
          ticket: null,
          approvers: [],
          breakGlass: false,
          cause: 'SESSION_EXPIRED',
          possibleFrom: hour(1),
          certainFrom: hour(2),
          certainUntil: hour(3),
          possibleUntil: hour(4),
        },
      ]);
    });

    it.each([
      ['before', 0.9, 0],
      ['at its possible beginning', 1, 1],
      ['at its possible end', 4, 1],
      ['after', 4.1, 0],
    ])('shows one at an instant: %s', async (_, time, count) => {
      await on.closed(hours(1, 2, 3, 4), 4);
      expect(await on.at(time)).toHaveLength(count);
    });

    it('shows one that the window only touches', async () => {
      await on.closed(hours(1, 2, 3, 4), 4);
      expect(await on.report(-5, 1.5)).toHaveLength(1);
      expect(await on.report(3.5, 9)).toHaveLength(1);
      expect(await on.report(5, 9)).toHaveLength(0);
    });

    it('shows one that lasted for months and ended long after the window', async () => {
      await on.closed(hours(1, 2, 2000, 2001), 2001);
      expect(await on.at(50)).toHaveLength(1);
      expect(await on.at(2000)).toHaveLength(1);
      expect(await on.at(2002)).toHaveLength(0);
    });

    it('shows one whose beginning was before the first observation', async () => {
      await on.closed(hours(null, 2, 3, 4), 4);
      expect((await on.at(-500)).map(timesOf)).toEqual([[null, 2, 3, 4]]);
    });

    it('shows one whose end was not observed as open, and once', async () => {
      await on.closed(hours(1, 2, 3, null), 4, { kind: 'ABANDONED', cause: 'ABANDONED' });
      expect((await on.at(2)).map(timesOf)).toEqual([[1, 2, 3, null]]);
      expect((await on.at(500)).map(timesOf)).toEqual([[1, 2, 3, null]]);
    });

    it('never calls a time certain that was not observed', async () => {
      await on.closed(hours(1, null, null, 4), 4);
      expect((await on.at(2)).map(timesOf)).toEqual([[1, null, null, 4]]);
    });

    it('rounds to milliseconds so that nothing becomes more certain', async () => {
      await on.closed(hours(1, 2, 3, 4), 4);
      const [row] = await on.ledger.rows<{ id: string }>(
        `INSERT INTO rule_events SELECT (jsonb_populate_record(e, jsonb_build_object('id', nextval('rule_events_id_seq'),
           'address', '203.0.113.9/32', 'certain_from', e.certain_from + interval '1 microsecond',
           'certain_until', e.certain_until + interval '1 microsecond',
           'possible_until', e.possible_until + interval '1 microsecond'))).* FROM rule_events e
         WHERE resource_id = $1 RETURNING id`,
        [on.resourceId],
      );
      expect(row).toBeDefined();
      const exact = (await on.at(2)).find(({ address }) => address === '203.0.113.9/32')!;
      expect(exact.certainFrom!.getTime()).toBe(hour(2).getTime() + 1);
      expect(exact.certainUntil).toEqual(hour(3));
      expect(exact.possibleUntil!.getTime()).toBe(hour(4).getTime() + 1);
    });

    it('leaves out events that end nothing', async () => {
      for (const kind of ['OPENED', 'HELD', 'REMOVAL_REFUSED'] as const) {
        await on.closed(hours(1, 2, 3, 4), 4, { kind });
      }
      expect(await on.at(2)).toEqual([]);
    });

    it('is by user and by address, too, and only of the organization', async () => {
      await on.closed(hours(1, 2, 3, 4), 4, { address: '198.51.100.7/32' });
      const byUser: AccessFilter = { by: 'user', userId: on.org.userId };
      const byAddress: AccessFilter = { by: 'address', address: '198.51.100.7/32' };
      const mine = (rows: AccessRow[]): AccessRow[] => rows.filter((row) => row.holderId === on.sessionId);
      expect(mine(await on.report(2, 2, byUser))).toHaveLength(1);
      expect(await on.report(2, 2, byAddress)).toHaveLength(1);
      expect(await on.report(2, 2, { by: 'address', address: '198.51.100.8/32' })).toEqual([]);
      expect(await on.report(2, 2, byUser, on.other)).toEqual([]);
      expect(await on.report(2, 2, byAddress, on.other)).toEqual([]);
      expect(await on.report(2, 2, { by: 'resource', resourceId: on.resourceId }, on.other)).toEqual([]);
    });

    it('is newest first', async () => {
      await on.closed(hours(1, 2, 3, 9), 9);
      await on.closed(hours(null, 2, 3, 9), 9);
      await on.closed(hours(5, 6, 7, 9), 9);
      expect((await on.at(6)).map((row) => timesOf(row)[0])).toEqual([5, 1, null]);
    });

    it('refuses more than ten thousand items', async () => {
      await on.closed(hours(1, 2, 3, 4), 4);
      await on.ledger.rows(
        `INSERT INTO rule_events SELECT (jsonb_populate_record(e, jsonb_build_object('id', nextval('rule_events_id_seq')))).*
         FROM rule_events e, generate_series(1, 10000) WHERE resource_id = $1`,
        [on.resourceId],
      );
      await expect(on.at(2)).rejects.toThrow('too many');
      expect(await on.at(5)).toEqual([]);
    });
  });

  describe('of live rules', () => {
    it('has the last observation as the end of what is certain, and no possible end', async () => {
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 6));
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId, { appliedAt: hour(2) });
      const [row] = await on.at(100);
      expect(timesOf(row!)).toEqual([1, 2, 6, null]);
      expect(row).toMatchObject({ holderKind: 'SESSION', holderId: on.sessionId, cause: 'SESSION_STARTED' });
      expect(row!.userEmail).toBe(on.org.email);
      expect(await on.at(0.5)).toEqual([]);
    });

    it('takes a comparison of the whole target for an observation, if the rule was present then', async () => {
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 3));
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId);
      await on.ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [on.targetId, hour(8)]);
      expect((await on.at(4)).map(timesOf)).toEqual([[1, 2, 8, null]]);
      await on.ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [on.targetId, hour(1.5)]);
      expect((await on.at(4)).map(timesOf)).toEqual([[1, 2, 3, null]]);
    });

    it('is not certain after a removal was sent', async () => {
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 8, 5), { state: 'unknown' });
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId, { released: true });
      const [row] = await on.at(4);
      expect(timesOf(row!)).toEqual([1, 2, 5, null]);
      expect(row!.cause).toBe('SESSION_STOPPED');
    });

    it('of a holder that joined later begins when it joined', async () => {
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 9));
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId, {
        createdAt: hour(5),
        appliedAt: hour(6),
      });
      expect((await on.at(7)).map(timesOf)).toEqual([[5, 5, 9, null]]);
      expect(await on.at(3)).toEqual([]);
    });

    it('is never certain of a rule in doubt, and leaves out one that is absent', async () => {
      const doubt = await on.ledger.rule(on.targetId, hours(1), { state: 'unknown' });
      await on.ledger.holder(doubt, on.org, on.resourceId, on.sessionId);
      const absent = await on.ledger.rule(on.targetId, hours(1), { state: 'absent' });
      await on.ledger.holder(absent, on.org, on.resourceId, on.sessionId);
      expect((await on.at(4)).map(timesOf)).toEqual([[1, null, null, null]]);
    });

    it('shows a rule that a moved resource left behind on another target', async () => {
      const rule = await on.ledger.rule(await on.ledger.target(), hours(1, 2, 9));
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId);
      expect(await on.at(4)).toHaveLength(1);
    });

    it('of a user are those of the user’s sessions', async () => {
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 9), { address: '198.51.100.20/32' });
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId);
      const rows = await on.report(4, 4, { by: 'user', userId: on.org.userId });
      expect(rows.filter((row) => row.holderId === on.sessionId)).toHaveLength(1);
      expect(await on.report(4, 4, { by: 'user', userId: on.other.userId })).toEqual([]);
      expect(await on.report(4, 4, { by: 'address', address: '198.51.100.20/32' })).toHaveLength(1);
    });
  });
});
