import { VerificationStore, type DueResource } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';
import { storedHost, type StoredHost } from '../builders/resources/stored-host';

const NEXT_MINUTES = 30;

describe('Background verifications of connected hosts', () => {
  const database = ownDatabase(4);
  const store = new VerificationStore();

  const sql = <Row>(statement: string, ...given: unknown[]): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, given);

  const tells = (host: StoredHost, eventType: string): Promise<unknown> =>
    sql(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type)
       SELECT organization_id, id, $2 FROM resources WHERE organization_id = $1`,
      host.organization,
      eventType,
    );

  /** A connected host whose verification is due, the last one with this outcome. */
  async function dueHost(lastOutcome: string | null = 'VERIFY_OK'): Promise<StoredHost> {
    const host = await storedHost(database);
    if (lastOutcome) await tells(host, lastOutcome);
    await sql('UPDATE resources SET verify_due_at = now() WHERE organization_id = $1', host.organization);
    return host;
  }

  const taken = (): Promise<DueResource[]> =>
    store.takeResources(database.autocommit, ['AGENT'], 10, { everyMinutes: NEXT_MINUTES, leaseSeconds: 60 });

  const settled = (due: readonly DueResource[]): Promise<string[]> =>
    store.settleConnected(database.autocommit, due, NEXT_MINUTES);

  it('are written together, and come due again after the interval', async () => {
    const hosts = [await dueHost(), await dueHost()];
    const due = await taken();
    expect((await settled(due)).toSorted()).toEqual(due.map(({ id }) => id).toSorted());
    for (const { organization } of hosts) {
      const [row] = await sql<{ minutes: number; recent: boolean }>(
        `SELECT extract(epoch FROM verify_due_at - now())::float8 / 60 AS minutes,
           last_verified_at > now() - interval '1 minute' AND target_verified_at IS NOT NULL AND write_verified AS recent
         FROM resources WHERE organization_id = $1`,
        organization,
      );
      expect(row!.recent).toBe(true);
      expect(row!.minutes).toBeGreaterThan(NEXT_MINUTES - 1);
    }
    expect(await settled(due)).toEqual([]);
  });

  it.each([
    [
      'its agent is away',
      `UPDATE agents SET seen_at = now() - interval '61 seconds' WHERE organization_id = $1`,
    ],
    ['it has no agent', 'DELETE FROM agents WHERE organization_id = $1'],
    ['the lease was lost', 'UPDATE resources SET verify_due_at = now() WHERE organization_id = $1'],
    ['it was renamed', `UPDATE resources SET resource_identifier = 'other' WHERE organization_id = $1`],
    ['it is deleted', 'UPDATE resources SET deleted_at = now() WHERE organization_id = $1'],
  ])('are left to a check of its own when %s', async (_, statement) => {
    const host = await dueHost();
    const due = await taken();
    expect(due).toHaveLength(1);
    await sql(statement, host.organization);
    expect(await settled(due)).toEqual([]);
    await sql('UPDATE resources SET verify_due_at = NULL WHERE organization_id = $1', host.organization);
  });

  it.each([null, 'VERIFY_FAILED'])('are left to a check of its own after the outcome %s', async (outcome) => {
    await dueHost(outcome);
    expect(await settled(await taken())).toEqual([]);
  });
});
