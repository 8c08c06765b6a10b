import { SYSTEM_ACTOR } from '#entities';
import { AccountStore, OrganizationClosingStore, TenantStores } from '#tenant-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

describe('A deleted organization', () => {
  const database = ownDatabase(2);

  const sql = <Row extends object>(statement: string, given: unknown[] = []): Promise<Row[]> =>
    database.autocommit.query(statement, given);
  const forget = (): Promise<number> =>
    database.transaction((tx) => new OrganizationClosingStore().forget(tx, 10));

  it.each([
    [
      'user',
      `INSERT INTO users (organization_id, email, name) SELECT organization_id, 'late@example.com', 'Late'
       FROM credentials WHERE id = $1`,
    ],
    [
      'credential',
      `INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data)
       SELECT organization_id, 'late', provider, credential_type, sealed_data FROM credentials WHERE id = $1`,
    ],
    [
      'resource',
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id)
       SELECT organization_id, 'late', id, provider, 'SECURITY_GROUP', 'sg-1', (SELECT id FROM targets LIMIT 1)
       FROM credentials WHERE id = $1`,
    ],
  ])('gets no %s that was requested while it was deleted', async (what, insertion) => {
    const rows = new LedgerRows(database);
    const { organizationId, credentialId } = await rows.organization();
    await rows.target();
    const { organizationDeletion: deletions } = new TenantStores();
    const inserted = await database.transaction(async (tx) => {
      await deletions.lock(tx, organizationId);
      await deletions.begin(tx, organizationId, SYSTEM_ACTOR);
      const late = sql(insertion, [credentialId]).then(
        () => `the ${what} exists`,
        (error: Error) => error.message,
      );
      await until('it waits for the deletion', async () => {
        const waiting = await tx.query<object[]>(
          `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`,
        );
        return waiting.length > 0;
      });
      return { late };
    });
    expect(await inserted.late).toBe('the organization is deleted');
  });

  it('goes from every table when its last session and audit record are gone, and not before', async () => {
    const account = { organizationName: 'Gone', email: 'ada@example.com', passwordHash: 'x', name: 'Ada' };
    const { organizationId, userId } = await new AccountStore().registerOrganization(
      database.autocommit,
      account,
    );
    const given = [organizationId, userId];
    await sql(
      `INSERT INTO sessions (organization_id, user_id, ipv4_address, expires_at, status)
       VALUES ($1, $2, '203.0.113.1', now(), 'EXPIRED')`,
      given,
    );
    await sql(
      `WITH paid AS (
         INSERT INTO subscriptions (organization_id, plan_id, status, price_cents, currency, adapter)
         VALUES ($1, $2, 'EXPIRED', 1, 'EUR', 'sandbox') RETURNING id)
       INSERT INTO payments (organization_id, subscription_id, amount_cents, currency, status)
       SELECT $1, id, 1, 'EUR', 'SUCCEEDED' FROM paid`,
      given,
    );
    expect(await forget()).toBe(0);
    await sql('UPDATE organizations SET deleted_at = now(), closed_at = now() WHERE id = $1', [
      organizationId,
    ]);
    expect(await forget()).toBe(0);
    await sql('DELETE FROM sessions WHERE organization_id = $1', [organizationId]);
    expect(await forget()).toBe(1);
    const tables = await sql<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'organization_id'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const rows = await sql(`SELECT FROM ${name} WHERE organization_id = $1`, [organizationId]);
      expect([name, rows]).toEqual([name, []]);
    }
  });
});
