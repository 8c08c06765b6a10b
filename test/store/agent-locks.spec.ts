import { EngineStore, type Lease } from '#engine-store';
import type { Tx } from '#entities';
import { storedHost, type StoredHost } from '../builders/resources/stored-host';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

const LEASE_SECONDS = 10;

describe('A request of an agent that was away, while a worker converges its host', () => {
  const database = ownDatabase(4);
  const { agents, leases, watch } = new EngineStore();
  /** of both transactions: one that loses a deadlock is tried again */
  let attempts = 0;

  const sql = <Row>(statement: string, ...given: unknown[]): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, given);

  async function awayHost(): Promise<StoredHost & { targetId: string }> {
    const host = await storedHost(database);
    await sql(`UPDATE agents SET seen_at = now() - interval '2 minutes' WHERE id = $1`, host.agentId);
    await sql('UPDATE resources SET suspended_by_check = true WHERE organization_id = $1', host.organization);
    const [target] = await sql<{ id: string }>('SELECT id FROM targets WHERE key = $1', host.visit.targetKey);
    return { ...host, targetId: target!.id };
  }

  const returns = ({ organization, visit }: StoredHost): Promise<unknown> =>
    database.transaction((tx) => {
      attempts += 1;
      return agents.admit(tx, organization, visit);
    });

  it.each<[string, (tx: Tx, lease: Lease) => Promise<unknown>]>([
    [
      'settles a rule',
      (tx, { targetId }) =>
        tx.query('UPDATE rules SET attempts = attempts + 1 WHERE target_id = $1', [targetId]),
    ],
    ['records that it is away', (tx, lease) => watch.recordAway(tx, lease, 'away')],
  ])('waits for the worker that %s, without a deadlock', async (_, work) => {
    const host = await awayHost();
    let request: Promise<unknown> | undefined;
    attempts = 0;
    await database.transaction(async (tx) => {
      attempts += 1;
      const lease = await leases.take(tx, host.targetId, LEASE_SECONDS, true);
      request ??= returns(host);
      await untilBlocked(database);
      await work(tx, lease!);
    });
    expect(await request).toMatchObject({ kind: 'serving', connected: true });
    expect(attempts).toBe(2);
  });

  it('does not wait for the editor of its resource, which waits for it', async () => {
    const host = await awayHost();
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM resources WHERE organization_id = $1 FOR UPDATE', [host.organization]);
      expect(await returns(host)).toMatchObject({ connected: true });
    });
  });
});
