import { type AccessFilter, type AccessRow, LedgerQueries } from '#engine-store/port';
import { Database } from '#entities';
import { LedgerRows, type LedgerOrganization } from '../builders/ledger';
import { cloneDatabase } from '../harness/database';

/** The hour of a day of which all times here are. */
const hour = (hours: number): Date => new Date(Date.UTC(2026, 0, 10) + hours * 3_600_000);
const hours = (...times: (number | null)[]): (Date | null)[] =>
  times.map((time) => (time === null ? null : hour(time)));

const timesOf = ({ possibleFrom, certainFrom, certainUntil, possibleUntil }: AccessRow): unknown[] =>
  [possibleFrom, certainFrom, certainUntil, possibleUntil].map(
    (time) => time && (time.getTime() - hour(0).getTime()) / 3_600_000,
  );

describe('The access report', () => {
  let database: Database;
  let drop: () => Promise<void>;
  let ledger: LedgerRows;
  let org: LedgerOrganization;
  let other: LedgerOrganization;
  let targetId: string;
  let resourceId: string;
  let sessionId: string;
  const queries = new LedgerQueries();

  beforeAll(async () => {
    const clone = await cloneDatabase();
    drop = clone.drop;
    database = await new Database({
      url: clone.url,
      applicationName: 'access-report',
      poolSize: 2,
    }).connect();
    ledger = new LedgerRows(database);
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });
  beforeEach(async () => {
    [org, other] = [await ledger.organization(), await ledger.organization()];
    targetId = await ledger.target();
    resourceId = await ledger.resource(org, targetId);
    sessionId = await ledger.session(org);
  });

  const report = async (
    from: number,
    to: number,
    filter: AccessFilter = { by: 'resource', resourceId },
    by = org,
  ): Promise<AccessRow[]> => {
    const rows = await database.transaction((tx) =>
      queries.access(tx, by.organizationId, filter, { from: hour(from), to: hour(to) }),
    );
    if (rows === 'too-many') throw new Error('too many');
    return rows;
  };
  const at = (time: number): Promise<AccessRow[]> => report(time, time);

  /** The end of an own session's interval. */
  const closed = (times: (Date | null)[], end: number, more: object = {}): Promise<void> =>
    ledger.event({
      kind: 'CLOSED',
      targetId,
      owner: org,
      resourceId,
      sessionId,
      cause: 'SESSION_EXPIRED',
      at: hour(end),
      times,
      ...more,
    });

  describe('of intervals that are over', () => {
    it('tells who, on what, why and when, for certain and possibly', async () => {
      await closed(hours(1, 2, 3, 4), 4);
      expect(await at(2)).toEqual([
        {
          resourceId,
          resourceName: 'database',
          provider: 'AWS',
          identifier: 'sg-0123456789abcdef0',
          address: '203.0.113.1/32',
          protocol: 'tcp',
          ports: '22',
          holderKind: 'SESSION',
          holderId: sessionId,
          userEmail: org.email,
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
      await closed(hours(1, 2, 3, 4), 4);
      expect(await at(time)).toHaveLength(count);
    });

    it('shows one that the window only touches', async () => {
      await closed(hours(1, 2, 3, 4), 4);
      expect(await report(-5, 1.5)).toHaveLength(1);
      expect(await report(3.5, 9)).toHaveLength(1);
      expect(await report(5, 9)).toHaveLength(0);
    });

    it('shows one that lasted for months, however long after the window it ended', async () => {
      await closed(hours(1, 2, 2000, 2001), 2001);
      expect(await at(50)).toHaveLength(1);
      expect(await at(2000)).toHaveLength(1);
      expect(await at(2002)).toHaveLength(0);
    });

    it('shows one whose beginning was before the first observation', async () => {
      await closed(hours(null, 2, 3, 4), 4);
      expect((await at(-500)).map(timesOf)).toEqual([[null, 2, 3, 4]]);
    });

    it('shows one whose end was not observed as open, and once', async () => {
      await closed(hours(1, 2, 3, null), 4, { kind: 'ABANDONED', cause: 'ABANDONED' });
      expect((await at(2)).map(timesOf)).toEqual([[1, 2, 3, null]]);
      expect((await at(500)).map(timesOf)).toEqual([[1, 2, 3, null]]);
    });

    it('never calls a time certain that was not observed', async () => {
      await closed(hours(1, null, null, 4), 4);
      expect((await at(2)).map(timesOf)).toEqual([[1, null, null, 4]]);
    });

    it('rounds to milliseconds so that nothing becomes more certain', async () => {
      await closed(hours(1, 2, 3, 4), 4);
      const [row] = await ledger.rows<{ id: string }>(
        `INSERT INTO rule_events SELECT (jsonb_populate_record(e, jsonb_build_object('id', nextval('rule_events_id_seq'),
           'address', '203.0.113.9/32', 'certain_from', e.certain_from + interval '1 microsecond',
           'certain_until', e.certain_until + interval '1 microsecond',
           'possible_until', e.possible_until + interval '1 microsecond'))).* FROM rule_events e
         WHERE resource_id = $1 RETURNING id`,
        [resourceId],
      );
      expect(row).toBeDefined();
      const exact = (await at(2)).find(({ address }) => address === '203.0.113.9/32')!;
      expect(exact.certainFrom!.getTime()).toBe(hour(2).getTime() + 1);
      expect(exact.certainUntil).toEqual(hour(3));
      expect(exact.possibleUntil!.getTime()).toBe(hour(4).getTime() + 1);
    });

    it('leaves out events that end nothing', async () => {
      for (const kind of ['OPENED', 'HELD', 'REMOVAL_REFUSED', 'UNMARKED'] as const) {
        await closed(hours(1, 2, 3, 4), 4, { kind });
      }
      expect(await at(2)).toEqual([]);
    });

    it('is by user and by address, too, and only of the organization', async () => {
      await closed(hours(1, 2, 3, 4), 4, { address: '198.51.100.7/32' });
      const byUser: AccessFilter = { by: 'user', userId: org.userId };
      const byAddress: AccessFilter = { by: 'address', address: '198.51.100.7/32' };
      const mine = (rows: AccessRow[]): AccessRow[] => rows.filter((row) => row.holderId === sessionId);
      expect(mine(await report(2, 2, byUser))).toHaveLength(1);
      expect(await report(2, 2, byAddress)).toHaveLength(1);
      expect(await report(2, 2, { by: 'address', address: '198.51.100.8/32' })).toEqual([]);
      expect(await report(2, 2, byUser, other)).toEqual([]);
      expect(await report(2, 2, byAddress, other)).toEqual([]);
      expect(await report(2, 2, { by: 'resource', resourceId }, other)).toEqual([]);
    });

    it('is newest first', async () => {
      await closed(hours(1, 2, 3, 9), 9);
      await closed(hours(null, 2, 3, 9), 9);
      await closed(hours(5, 6, 7, 9), 9);
      expect((await at(6)).map((row) => timesOf(row)[0])).toEqual([5, 1, null]);
    });

    it('above ten thousand items asks for less', async () => {
      await closed(hours(1, 2, 3, 4), 4);
      await ledger.rows(
        `INSERT INTO rule_events SELECT (jsonb_populate_record(e, jsonb_build_object('id', nextval('rule_events_id_seq')))).*
         FROM rule_events e, generate_series(1, 10000) WHERE resource_id = $1`,
        [resourceId],
      );
      await expect(at(2)).rejects.toThrow('too many');
      expect(await at(5)).toEqual([]);
    });
  });

  describe('of live rules', () => {
    it('has the last observation as the end of what is certain, and no possible end', async () => {
      const rule = await ledger.rule(targetId, hours(1, 2, 6));
      await ledger.holder(rule, org, resourceId, sessionId, { appliedAt: hour(2) });
      const [row] = await at(100);
      expect(timesOf(row!)).toEqual([1, 2, 6, null]);
      expect(row).toMatchObject({ holderKind: 'SESSION', holderId: sessionId, cause: 'SESSION_STARTED' });
      expect(row!.userEmail).toBe(org.email);
      expect(await at(0.5)).toEqual([]);
    });

    it('takes a comparison of the whole target for an observation, if the rule was present then', async () => {
      const rule = await ledger.rule(targetId, hours(1, 2, 3));
      await ledger.holder(rule, org, resourceId, sessionId);
      await ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [targetId, hour(8)]);
      expect((await at(4)).map(timesOf)).toEqual([[1, 2, 8, null]]);
      await ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [targetId, hour(1.5)]);
      expect((await at(4)).map(timesOf)).toEqual([[1, 2, 3, null]]);
    });

    it('is not certain after a removal was sent', async () => {
      const rule = await ledger.rule(targetId, hours(1, 2, 8, 5), { state: 'unknown' });
      await ledger.holder(rule, org, resourceId, sessionId, { released: true });
      const [row] = await at(4);
      expect(timesOf(row!)).toEqual([1, 2, 5, null]);
      expect(row!.cause).toBe('SESSION_STOPPED');
    });

    it('of a holder that joined later begins when it joined', async () => {
      const rule = await ledger.rule(targetId, hours(1, 2, 9));
      await ledger.holder(rule, org, resourceId, sessionId, { createdAt: hour(5), appliedAt: hour(6) });
      expect((await at(7)).map(timesOf)).toEqual([[5, 6, 9, null]]);
      expect(await at(3)).toEqual([]);
    });

    it('is never certain of a rule in doubt, and leaves out one that is absent', async () => {
      const doubt = await ledger.rule(targetId, hours(1), { state: 'unknown' });
      await ledger.holder(doubt, org, resourceId, sessionId);
      const absent = await ledger.rule(targetId, hours(1), { state: 'absent' });
      await ledger.holder(absent, org, resourceId, sessionId);
      expect((await at(4)).map(timesOf)).toEqual([[1, null, null, null]]);
    });

    it('shows a rule that a moved resource left behind on another target', async () => {
      const rule = await ledger.rule(await ledger.target(), hours(1, 2, 9));
      await ledger.holder(rule, org, resourceId, sessionId);
      expect(await at(4)).toHaveLength(1);
    });

    it('of a user are those of the user’s sessions', async () => {
      const rule = await ledger.rule(targetId, hours(1, 2, 9), { address: '198.51.100.20/32' });
      await ledger.holder(rule, org, resourceId, sessionId);
      const rows = await report(4, 4, { by: 'user', userId: org.userId });
      expect(rows.filter((row) => row.holderId === sessionId)).toHaveLength(1);
      expect(await report(4, 4, { by: 'user', userId: other.userId })).toEqual([]);
      expect(await report(4, 4, { by: 'address', address: '198.51.100.20/32' })).toHaveLength(1);
    });
  });

  describe('of the rest of the target', () => {
    it('shows a rule without a holder as an orphan, with its cause', async () => {
      await ledger.rule(targetId, hours(1, 2, 9));
      expect(await at(4)).toMatchObject([
        { holderKind: 'ORPHAN', holderId: null, userEmail: null, cause: 'STALE_RULE', resourceId },
      ]);
    });

    it('shows unmanaged rules, since the comparison before they were seen', async () => {
      await ledger.rows(
        `INSERT INTO unmanaged_rules VALUES ($1, '192.0.2.0/24 tcp 22,80-90', 'sgr-1', $2, $3)`,
        [targetId, hour(1), hour(2)],
      );
      await ledger.rows('UPDATE targets SET compared_at = $2 WHERE id = $1', [targetId, hour(8)]);
      const [row] = await at(4);
      expect(row).toMatchObject({
        holderKind: 'UNMANAGED',
        address: '192.0.2.0/24',
        protocol: 'tcp',
        ports: '22,80-90',
        resourceId,
      });
      expect(timesOf(row!)).toEqual([1, 2, 8, null]);
      expect(await at(0)).toEqual([]);
      expect(await report(4, 4, { by: 'address', address: '192.0.2.0/24' })).toHaveLength(1);
      expect(await report(4, 4, { by: 'address', address: '192.0.3.0/24' })).toEqual([]);
    });

    it('shows what is over and had no holder', async () => {
      await ledger.event({
        kind: 'CLOSED',
        targetId,
        at: hour(4),
        times: hours(1, 2, 3, 4),
        cause: 'ORPHAN',
      });
      await ledger.event({
        kind: 'MISSING',
        targetId,
        at: hour(4),
        times: hours(1, 2, 3, 4),
        holderKind: 'UNMANAGED',
        address: '192.0.2.1/32',
      });
      const rows = await at(2);
      expect(rows.map(({ holderKind, cause }) => `${holderKind} ${cause}`).toSorted()).toEqual([
        'ORPHAN ORPHAN',
        'UNMANAGED null',
      ]);
    });

    it('shows another organization’s holders as OTHER, once, and nothing else of them', async () => {
      const theirs = await ledger.resource(other, targetId, { name: 'their database' });
      const rule = await ledger.rule(targetId, hours(5, 6, 9));
      for (const joined of [5, 6]) {
        await ledger.holder(rule, other, theirs, await ledger.session(other), { createdAt: hour(joined) });
      }
      await ledger.event({
        kind: 'RELEASED',
        targetId,
        at: hour(7),
        owner: other,
        resourceId: theirs,
        sessionId: await ledger.session(other),
        cause: 'SESSION_STOPPED_BY_ADMIN',
        times: hours(4, 5, 6.5, 7),
      });
      const rows = await at(6);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({
        holderKind: 'OTHER',
        holderId: null,
        userEmail: null,
        cause: null,
        resourceId,
        resourceName: 'database',
      });
      expect(timesOf(rows[0]!)).toEqual([4, 5, 9, null]);
      const text = JSON.stringify(rows);
      for (const secret of [other.email, other.organizationId, theirs, 'their database', 'ADMIN']) {
        expect(text).not.toContain(secret);
      }
    });

    it('does not show another organization’s holder of a rule that an own one holds', async () => {
      const theirs = await ledger.resource(other, targetId);
      const rule = await ledger.rule(targetId, hours(1, 2, 9));
      await ledger.holder(rule, other, theirs, await ledger.session(other));
      await ledger.holder(rule, org, resourceId, sessionId);
      expect((await at(4)).map(({ holderKind }) => holderKind)).toEqual(['SESSION']);
    });

    it('nor one that is over, while an own one held the rule', async () => {
      const theirs = { kind: 'RELEASED', owner: other, targetId } as const;
      await closed(hours(1, 2, 5, 6), 6);
      await ledger.event({ ...theirs, at: hour(4), times: hours(2, 3, 3, 4) });
      expect((await at(3)).map(({ holderKind }) => holderKind)).toEqual(['SESSION']);
      await ledger.event({ ...theirs, at: hour(8), times: hours(5, 6, 7, 8) });
      expect((await report(3, 9)).map(({ holderKind }) => holderKind)).toEqual(['OTHER', 'SESSION']);
    });

    it('begins with the resource, and shows nothing before it existed', async () => {
      const late = await ledger.resource(org, targetId, { createdAt: hour(5) });
      await ledger.event({ kind: 'CLOSED', targetId, at: hour(4), times: hours(1, 2, 3, 4) });
      await ledger.rule(targetId, hours(1, 2, 9));
      const filter: AccessFilter = { by: 'resource', resourceId: late };
      expect(await report(2, 2, filter)).toEqual([]);
      expect((await report(2, 20, filter)).map(timesOf)).toEqual([[1, 2, 9, null]]);
    });

    it('shows nothing to an organization that did not prove that it may write there', async () => {
      await ledger.rule(targetId, hours(1, 2, 9));
      await ledger.event({ kind: 'CLOSED', targetId, at: hour(4), times: hours(1, 2, 3, 4) });
      const named = await ledger.resource(other, targetId, { verified: false });
      expect(await report(2, 2, { by: 'resource', resourceId: named }, other)).toEqual([]);
      expect(await report(2, 2, { by: 'address', address: '203.0.113.1/32' }, other)).toEqual([]);
    });

    it('has no part in what a user could reach', async () => {
      const own = await ledger.organization();
      await ledger.resource(own, targetId);
      await ledger.rule(targetId, hours(1, 2, 9));
      expect(await report(2, 2, { by: 'user', userId: own.userId }, own)).toEqual([]);
    });
  });
});
