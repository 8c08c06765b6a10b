import { recordOverdue } from '#engine';
import { type Backlog, BacklogStore, EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import { DueWorkStore } from '#tenant-store';
import { type LedgerOrganization, LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const PAGE = { page: 0, size: 10 };

describe('A session that nothing has ended at its end', () => {
  const database = ownDatabase(2);
  const ledger = new LedgerRows(database);
  const stores = new EngineStore();
  let own: LedgerOrganization;
  let targetId: string;
  let ruleId: string;
  let sessionId: string;

  beforeEach(async () => {
    own = await ledger.organization();
    targetId = await ledger.target();
    ruleId = await ledger.rule(targetId, [new Date(0), new Date(0), new Date(0)]);
    sessionId = await held();
    await ledger.rows('UPDATE rules SET cause = NULL');
  });
  afterEach(() =>
    ledger.rows(`WITH holder AS (DELETE FROM rule_holders), ip AS (UPDATE resource_ips SET status = 'REMOVED'),
      rule AS (UPDATE rules SET state = 'absent', due_at = NULL) UPDATE sessions SET status = 'EXPIRED'`),
  );

  const inTransaction = <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> =>
    database.transaction(work);
  const held = async (): Promise<string> => {
    const id = await ledger.session(own);
    await ledger.holder(ruleId, own, await ledger.resource(own, targetId), id);
    return id;
  };
  /** Its lease is over for this long. */
  const isOverFor = (seconds: number): Promise<unknown[]> =>
    ledger.rows('UPDATE sessions SET lease_until = now() - make_interval(secs => $2) WHERE id = $1', [
      sessionId,
      seconds,
    ]);
  const backlog = async (): Promise<Backlog | undefined> =>
    (await new BacklogStore().byProvider(database.autocommit)).find(({ provider }) => provider === 'AWS');
  const overdue = async (): Promise<unknown[]> =>
    (await new BacklogStore().overdueRules(database.autocommit, PAGE)).rows;
  const listOverdue = async (): Promise<unknown[]> =>
    (await stores.targetRules.list(database.autocommit, own.organizationId, targetId, PAGE)).rows;
  const record = (): Promise<string[]> => inTransaction((tx) => recordOverdue(tx, stores, 10));
  const end = async (): Promise<Date> => {
    const [session] = await ledger.rows<{ end: Date }>(
      'SELECT least(expires_at, lease_until) AS end FROM sessions WHERE id = $1',
      [sessionId],
    );
    return session!.end;
  };

  it('is due and overdue since then, in the gauges, the list of operators and that of the target', async () => {
    expect(await backlog()).toMatchObject({ dueRules: 0, overdueRules: 0, oldestOverdueSeconds: 0 });
    await isOverFor(40);
    const found = (await backlog())!;
    expect(found).toMatchObject({ dueRules: 1, overdueRules: 1 });
    expect(found.oldestOverdueSeconds).toBeGreaterThanOrEqual(40);
    const since = await end();
    expect(await overdue()).toMatchObject([{ id: ruleId, unwantedSince: since, cause: 'SESSION_EXPIRED' }]);
    expect(await listOverdue()).toMatchObject([{ isWanted: false, isOverdue: true, unwantedSince: since }]);
  });

  it('is late later where the provider needs longer to carry a removal out', async () => {
    await ledger.rows(`UPDATE targets SET resource_type = 'POSTGRESQL_FLEXIBLE_SERVER' WHERE id = $1`, [
      targetId,
    ]);
    await isOverFor(115);
    expect([await overdue(), await listOverdue(), await record()]).toMatchObject([
      [],
      [{ isOverdue: false }],
      [],
    ]);
    await isOverFor(125);
    const found = [[{ id: ruleId }], [{ isOverdue: true }], []];
    expect([await overdue(), await listOverdue(), await record()]).toMatchObject(found);
  });

  it('is not, while another session holds the rule', async () => {
    await isOverFor(40);
    await held();
    expect(await backlog()).toMatchObject({ dueRules: 1, overdueRules: 0 });
    expect(await overdue()).toEqual([]);
    expect(await listOverdue()).toMatchObject([{ isWanted: true, isOverdue: false, unwantedSince: null }]);
  });

  it('is reported after a minute, once, also when it is swept later', async () => {
    expect(await record()).toEqual([]);
    await isOverFor(60);
    expect(await new DueWorkStore().find(database.autocommit, 55, 60)).toMatchObject({ overdueRules: true });
    expect(await record()).toEqual([ruleId]);
    const [{ details }] = (await ledger.rows<{ details: object }>(
      `SELECT details FROM audit_records WHERE event_type = 'RULE_REVOCATION_OVERDUE'`,
    )) as [{ details: object }];
    expect(details).toMatchObject({
      sessionId,
      cause: 'SESSION_EXPIRED',
      unwantedSince: (await end()).toISOString(),
    });
    await inTransaction((tx) => stores.sweep.expireSessions(tx, 10));
    expect(await record()).toEqual([]);
  });

  it.each([
    ['a sweep', (tx: Tx) => stores.sweep.expireSessions(tx, 10)],
    [
      'a release of its resource',
      (tx: Tx) =>
        tx.query(
          `SELECT release_ips('ABANDONED', ARRAY(SELECT id FROM resource_ips WHERE status = 'APPLIED'))`,
        ),
    ],
  ])('counts from its end, not from %s', async (_, release) => {
    await isOverFor(100);
    await inTransaction<unknown>(release);
    const since = await end();
    const [row] = await ledger.rows(
      `SELECT ip.released_at AS ip, h.released_at AS holder, r.unwanted_since AS rule
       FROM rules r JOIN rule_holders h ON h.rule_id = r.id JOIN resource_ips ip ON ip.id = h.resource_ip_id`,
    );
    expect(row).toEqual({ ip: since, holder: since, rule: since });
    const [session] = await ledger.rows<{ endedAt: Date | null }>(
      'SELECT ended_at AS "endedAt" FROM sessions',
    );
    expect(session!.endedAt ?? since).toEqual(since);
  });
});
