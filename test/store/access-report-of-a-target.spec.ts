import type { AccessFilter } from '#engine-store/port';
import { AccessReportBench, hour, hours, timesOf } from '../builders/audit/access-report';

describe('The access report of the rest of a target', () => {
  const on = new AccessReportBench();

  beforeEach(() => on.renew());

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
