import { randomUUID } from 'node:crypto';
import type { Tx } from '#entities';
import { deleteOldHealthEvents, type HealthEventPosition } from '#tenant-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const DAYS = 400;

describe('Health events past their retention', () => {
  const database = ownDatabase(2, { forEachTest: true });
  const ledger = new LedgerRows(database);

  const sql = <Row>(statement: string, given: unknown[] = []): Promise<Row[]> =>
    database.autocommit.query(statement, given);

  const newResource = async (): Promise<string> =>
    ledger.resource(await ledger.organization(), await ledger.target());

  const happened = (
    resource: string,
    type: string,
    daysAgo: number,
    message: string = randomUUID(),
  ): Promise<unknown> =>
    sql(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message, created_at)
       SELECT organization_id, id, $2, $4, now() - make_interval(days => $3) FROM resources WHERE id = $1`,
      [resource, type, daysAgo, message],
    );

  const deleteAll = async (limit: number): Promise<number> => {
    let [total, position]: [number, HealthEventPosition | null] = [0, null];
    for (let examined = limit; examined === limit;) {
      const batch = await deleteOldHealthEvents(database.autocommit, DAYS, position, limit);
      ({ examined, last: position } = batch);
      total += batch.deleted;
    }
    return total;
  };

  it('are deleted, but for the newest verification and the newest reconciliation of each resource', async () => {
    const [quiet, busy] = [await newResource(), await newResource()];
    await happened(quiet, 'VERIFY_FAILED', 900);
    await happened(quiet, 'VERIFY_OK', 800, 'quiet: newest verification');
    await happened(quiet, 'RECONCILE_OK', 700);
    await happened(quiet, 'RECONCILE_FAILED', 600);
    await happened(busy, 'VERIFY_OK', 500);
    await happened(busy, 'VERIFY_FAILED', 399, 'busy: within the retention');
    await happened(busy, 'RECONCILE_OK', 401);
    await happened(busy, 'RECONCILE_OK', 1, 'busy: newest reconciliation');
    // two at the same time: one of them is the newest
    await sql(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, created_at)
       SELECT organization_id, id, 'RECONCILE_OK', now() - interval '450 days' FROM resources, generate_series(1, 2)`,
    );
    await expect(deleteAll(2)).resolves.toBe(2 + 2 + 2 + 2);
    await expect(deleteAll(2)).resolves.toBe(0);
    const left = await sql<{ message: string | null }>(
      'SELECT message FROM resource_health_events ORDER BY created_at',
    );
    expect(left.map(({ message }) => message)).toEqual([
      'quiet: newest verification',
      null,
      'busy: within the retention',
      'busy: newest reconciliation',
    ]);
  });

  it('are found by an index in batches', async () => {
    await newResource();
    await sql(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, created_at)
       SELECT organization_id, id, 'RECONCILE_OK', now() - n * interval '1 hour' FROM resources, generate_series(1, 20000) n`,
    );
    await sql('ANALYZE resource_health_events');
    let plan = '';
    const explaining = {
      query: async (statement: string, given: unknown[]): Promise<unknown> => {
        const lines = await sql<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`, given);
        plan = lines.map((line) => line['QUERY PLAN']).join('\n');
        return sql(statement, given);
      },
    };
    const { examined } = await deleteOldHealthEvents(explaining as Tx, DAYS, null, 1000);
    expect(examined).toBe(1000);
    expect(plan).toContain('resource_health_events_created_at_idx');
    expect(plan).toContain('resource_health_events_kind_idx');
    expect(plan).not.toContain('Seq Scan on resource_health_events');
  });
});
