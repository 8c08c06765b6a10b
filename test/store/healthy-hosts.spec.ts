import { AgentWatchStore } from '#engine-store';
import { ownDatabase } from '../harness/database/own-database';
import { storedHost, type StoredHost } from '../builders/resources/stored-host';

const INTERVAL_SECONDS = 45;

describe('Due comparisons of healthy hosts', () => {
  const database = ownDatabase(4);
  const watch = new AgentWatchStore();

  const sql = <Row>(statement: string, ...given: unknown[]): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, given);

  const tells = (host: StoredHost, eventType: string): Promise<unknown> =>
    sql(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type)
       SELECT organization_id, id, $2 FROM resources WHERE organization_id = $1`,
      host.organization,
      eventType,
    );

  /** A connected host that was reported to be in order, whose comparison is due. */
  async function healthy(): Promise<StoredHost> {
    const host = await storedHost(database);
    await tells(host, 'RECONCILE_OK');
    await sql('UPDATE targets SET reconcile_due_at = now() WHERE key = $1', host.visit.targetKey);
    return host;
  }

  it('are finished together, and come due together again', async () => {
    const hosts = [await healthy(), await healthy(), await healthy()];
    // in a transaction, in which time stands still
    const due = await database.transaction(async (tx) => {
      expect(await watch.finishHealthy(tx, INTERVAL_SECONDS)).toBe(3);
      return await tx.query<{ seconds: number }[]>(
        `SELECT DISTINCT extract(epoch FROM reconcile_due_at - now())::float8 AS seconds FROM targets
         WHERE key = ANY ($1)`,
        [hosts.map(({ visit }) => visit.targetKey)],
      );
    });
    expect(due).toHaveLength(1);
    expect(due[0]!.seconds).toBeGreaterThanOrEqual(INTERVAL_SECONDS);
    expect(due[0]!.seconds).toBeLessThanOrEqual(INTERVAL_SECONDS + 5);
    expect(await watch.finishHealthy(database.autocommit, INTERVAL_SECONDS)).toBe(0);
  });

  const GUARD = { guarded: [], waiting: [], leftAlone: [], refused: [], connections: [] };
  const guardWith = (list: string): string =>
    `UPDATE agents SET guard = '${JSON.stringify({ ...GUARD, [list]: [{ protocol: 'tcp', ports: [22] }] })}' WHERE target_key = $1`;
  const ofTarget = (change: string): string => `UPDATE targets SET ${change} WHERE key = $1`;
  const ofAgent = (change: string): string => `UPDATE agents SET ${change} WHERE target_key = $1`;
  const atTarget = 'target_id = (SELECT id FROM targets WHERE key = $1)';

  it.each([
    ['was requested', ofTarget('reconcile_requested = true')],
    ['is leased', ofTarget(`lease_until = now() + interval '10 seconds'`)],
    ['has an agent that is away', ofAgent(`seen_at = now() - interval '61 seconds'`)],
    ['has an agent that was reported as away', ofAgent('told_away = true')],
    ['has no agent', 'DELETE FROM agents WHERE target_key = $1'],
    ['has two agents', ofAgent('rival_seen_at = now()')],
    ['waits to guard', guardWith('waiting')],
    ['leaves a port alone', guardWith('leftAlone')],
    ['refuses a port', guardWith('refused')],
    ['has a failing rule', `UPDATE rules SET state = 'unknown', last_error = 'no' WHERE ${atTarget}`],
    ['has no resource', `UPDATE resources SET deleted_at = now() WHERE ${atTarget}`],
  ])('are left to a pass when the host %s', async (_, statement) => {
    const host = await healthy();
    await sql(statement, host.visit.targetKey);
    expect(await watch.finishHealthy(database.autocommit, INTERVAL_SECONDS)).toBe(0);
    // not due for the next test
    await sql(`UPDATE targets SET reconcile_due_at = 'infinity' WHERE key = $1`, host.visit.targetKey);
  });

  it('are left to a pass after another event than RECONCILE_OK, or none', async () => {
    const failed = await healthy();
    await tells(failed, 'RECONCILE_FAILED');
    const unknown = await storedHost(database);
    await sql('UPDATE targets SET reconcile_due_at = now() WHERE key = $1', unknown.visit.targetKey);
    expect(await watch.finishHealthy(database.autocommit, INTERVAL_SECONDS)).toBe(0);
    await tells(failed, 'RECONCILE_OK');
    expect(await watch.finishHealthy(database.autocommit, INTERVAL_SECONDS)).toBe(1);
  });

  it('of a host that guards everything it names are finished', async () => {
    const host = await healthy();
    await sql(
      'UPDATE agents SET guard = $2 WHERE target_key = $1',
      host.visit.targetKey,
      JSON.stringify({ ...GUARD, guarded: [{ protocol: 'tcp', ports: [22] }] }),
    );
    expect(await watch.finishHealthy(database.autocommit, INTERVAL_SECONDS)).toBe(1);
  });
});
