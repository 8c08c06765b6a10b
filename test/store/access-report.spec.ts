import type { AccessFilter, AccessRow } from '#engine-store/port';
import { AccessReportBench, hour, hours, timesOf } from '../builders/audit/access-report';

describe('The access report', () => {
  const on = new AccessReportBench();

  beforeEach(() => on.renew());

  describe('of intervals that are over', () => {
    it.each<[string, (number | null)[], number, boolean]>([
      ['not before its possible beginning', [1, 2, 3, 4], 0.9, false],
      ['at its possible beginning', [1, 2, 3, 4], 1, true],
      ['at its possible end', [1, 2, 3, 4], 4, true],
      ['not after it', [1, 2, 3, 4], 4.1, false],
      ['that lasted for months', [1, 2, 2000, 2001], 50, true],
      ['that lasted for months, at its end', [1, 2, 2000, 2001], 2000, true],
      ['whose beginning was before the first observation', [null, 2, 3, 4], -500, true],
      ['whose end was not observed, as open', [1, 2, 3, null], 500, true],
      ['that was never observed, as possible only', [1, null, null, 4], 2, true],
      ['no more after its end', [1, 2, 2000, 2001], 2002, false],
    ])('shows one %s', async (_, times, time, isShown) => {
      const kind = times[3] === null ? 'ABANDONED' : 'CLOSED';
      await on.closed(hours(...times), times[3] ?? 4, { kind });
      expect((await on.at(time)).map(timesOf)).toEqual(isShown ? [times] : []);
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
  });

  describe('of the rest of a target', () => {
    it('shows a rule without a holder as an orphan, with its cause', async () => {
      await on.ledger.rule(on.targetId, hours(1, 2, 9));
      expect(await on.at(4)).toMatchObject([
        {
          holderKind: 'ORPHAN',
          holderId: null,
          userEmail: null,
          cause: 'STALE_RULE',
          resourceId: on.resourceId,
        },
      ]);
    });

    it('shows unmanaged rules, since the comparison before they were seen', async () => {
      await on.ledger.rows(
        `INSERT INTO unmanaged_rules VALUES ($1, '192.0.2.0/24 tcp 22,80-90', 'sgr-1', $2, $3)`,
        [on.targetId, hour(1), hour(2)],
      );
      await on.ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [on.targetId, hour(8)]);
      const [row] = await on.at(4);
      expect(row).toMatchObject({
        holderKind: 'UNMANAGED',
        address: '192.0.2.0/24',
        protocol: 'tcp',
        ports: '22,80-90',
        resourceId: on.resourceId,
      });
      expect(timesOf(row!)).toEqual([1, 2, 8, null]);
      expect(await on.at(0)).toEqual([]);
      expect(await on.report(4, 4, { by: 'address', address: '192.0.2.0/24' })).toHaveLength(1);
      expect(await on.report(4, 4, { by: 'address', address: '192.0.3.0/24' })).toEqual([]);
    });

    it('shows what is over and had no holder', async () => {
      await on.ledger.event({
        kind: 'CLOSED',
        targetId: on.targetId,
        at: hour(4),
        times: hours(1, 2, 3, 4),
        cause: 'ORPHAN',
      });
      await on.ledger.event({
        kind: 'MISSING',
        targetId: on.targetId,
        at: hour(4),
        times: hours(1, 2, 3, 4),
        holderKind: 'UNMANAGED',
        address: '192.0.2.1/32',
      });
      const rows = await on.at(2);
      expect(rows.map(({ holderKind, cause }) => `${holderKind} ${cause}`).toSorted()).toEqual([
        'ORPHAN ORPHAN',
        'UNMANAGED null',
      ]);
    });

    it('shows another organization’s holders as OTHER, once, and nothing else of them', async () => {
      const theirs = await on.ledger.resource(on.other, on.targetId, { name: 'their database' });
      const rule = await on.ledger.rule(on.targetId, hours(5, 6, 9));
      for (const joined of [5, 6]) {
        await on.ledger.holder(rule, on.other, theirs, await on.ledger.session(on.other), {
          createdAt: hour(joined),
        });
      }
      await on.ledger.event({
        kind: 'RELEASED',
        targetId: on.targetId,
        at: hour(7),
        owner: on.other,
        resourceId: theirs,
        sessionId: await on.ledger.session(on.other),
        cause: 'SESSION_STOPPED_BY_ADMIN',
        times: hours(4, 5, 6.5, 7),
      });
      const rows = await on.at(6);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({
        holderKind: 'OTHER',
        holderId: null,
        userEmail: null,
        cause: null,
        resourceId: on.resourceId,
        resourceName: 'database',
      });
      expect(timesOf(rows[0]!)).toEqual([4, 5, 9, null]);
      const text = JSON.stringify(rows);
      for (const secret of [on.other.email, on.other.organizationId, theirs, 'their database', 'ADMIN']) {
        expect(text).not.toContain(secret);
      }
    });

    it('does not show another organization’s holder of a rule that an own one holds', async () => {
      const theirs = await on.ledger.resource(on.other, on.targetId);
      const rule = await on.ledger.rule(on.targetId, hours(1, 2, 9));
      await on.ledger.holder(rule, on.other, theirs, await on.ledger.session(on.other));
      await on.ledger.holder(rule, on.org, on.resourceId, on.sessionId);
      expect((await on.at(4)).map(({ holderKind }) => holderKind)).toEqual(['SESSION']);
    });

    it('nor one that is over, while an own one held the rule', async () => {
      const theirs = { kind: 'RELEASED', owner: on.other, targetId: on.targetId } as const;
      await on.closed(hours(1, 2, 5, 6), 6);
      await on.ledger.event({ ...theirs, at: hour(4), times: hours(2, 3, 3, 4) });
      expect((await on.at(3)).map(({ holderKind }) => holderKind)).toEqual(['SESSION']);
      await on.ledger.event({ ...theirs, at: hour(8), times: hours(5, 6, 7, 8) });
      expect((await on.report(3, 9)).map(({ holderKind }) => holderKind)).toEqual(['OTHER', 'SESSION']);
    });

    it('begins with the resource, and shows nothing before it existed', async () => {
      const late = await on.ledger.resource(on.org, on.targetId, { createdAt: hour(5) });
      await on.ledger.event({ kind: 'CLOSED', targetId: on.targetId, at: hour(4), times: hours(1, 2, 3, 4) });
      await on.ledger.rule(on.targetId, hours(1, 2, 9));
      const filter: AccessFilter = { by: 'resource', resourceId: late };
      expect(await on.report(2, 2, filter)).toEqual([]);
      expect((await on.report(2, 20, filter)).map(timesOf)).toEqual([[1, 2, 9, null]]);
    });

    it('shows nothing to an organization that did not prove that it may write there', async () => {
      await on.ledger.rule(on.targetId, hours(1, 2, 9));
      await on.ledger.event({ kind: 'CLOSED', targetId: on.targetId, at: hour(4), times: hours(1, 2, 3, 4) });
      const named = await on.ledger.resource(on.other, on.targetId, { verified: false });
      expect(await on.report(2, 2, { by: 'resource', resourceId: named }, on.other)).toEqual([]);
      expect(await on.report(2, 2, { by: 'address', address: '203.0.113.1/32' }, on.other)).toEqual([]);
    });

    it('has no part in what a user could reach', async () => {
      const own = await on.ledger.organization();
      await on.ledger.resource(own, on.targetId);
      await on.ledger.rule(on.targetId, hours(1, 2, 9));
      expect(await on.report(2, 2, { by: 'user', userId: own.userId }, own)).toEqual([]);
    });
  });
});
