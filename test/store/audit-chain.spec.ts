import { randomUUID } from 'node:crypto';
import type { Tx } from '#entities';
import { asOrganizationId } from '#rules';
import { AuditChainBench, ENTRY } from '../builders/audit/audit-chain';
import { until } from '../harness/until';

describe('The chain of audit records', () => {
  const log = new AuditChainBench();

  it('contains every record once, separately for each organization, and grows', async () => {
    const [one, other] = [asOrganizationId(randomUUID()), asOrganizationId(randomUUID())];
    for (let round = 0; round < 3; round += 1) {
      await log.write(one, 5);
      await log.write(other, 2);
      await log.sealAll(log.sealer(), 4);
    }
    const first = await log.verify(one);
    expect(first).toMatchObject({ sealed: 15, unsealed: 0, broken: null });
    expect(await log.verify(other)).toMatchObject({ sealed: 6, unsealed: 0, broken: null });
    await log.write(one);
    expect(await log.verify(one)).toEqual({ ...first, unsealed: 1 });
    await log.sealAll();
    const grown = await log.verify(one, { position: 15n, hash: first.lastHash });
    expect(grown).toMatchObject({ sealed: 16, unsealed: 0, broken: null });
    expect(grown.lastHash).not.toBe(first.lastHash);
  });

  it('concurrent writers and sealers produce one unbroken chain for each organization', async () => {
    const organizations = Array.from({ length: 3 }, () => asOrganizationId(randomUUID()));
    const run = { over: false };
    const sealers = [log.sealer(), log.sealer(), log.sealer()].map(async (one) => {
      while (!run.over) await one.sealNext(20);
    });
    const writers = Array.from({ length: 6 }, async (_, index) => {
      for (let written = 0; written < 40; written += 1) {
        // transactions that are open for different times end in another order than they began
        await log.database.transaction(async (tx) => {
          await log.stores.audit.write(tx, organizations[index % 3]!, ENTRY);
          await tx.query('SELECT pg_sleep($1)', [((index + written) % 4) / 1000]);
          await log.stores.audit.write(tx, organizations[(index + written) % 3]!, ENTRY);
        });
      }
    });
    await Promise.all(writers);
    run.over = true;
    await Promise.all(sealers);
    await log.sealAll();
    const reports = await Promise.all(organizations.map((organization) => log.verify(organization)));
    expect(reports.map(({ broken, unsealed }) => ({ broken, unsealed }))).toEqual(
      organizations.map(() => ({ broken: null, unsealed: 0 })),
    );
    expect(reports.reduce((sum, { sealed }) => sum + sealed, 0)).toBe(6 * 40 * 2);
  });

  it('a record whose transaction is still open is sealed once it is committed', async () => {
    const organization = asOrganizationId(randomUUID());
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    let begun = (): void => undefined;
    const written = new Promise<void>((resolve) => (begun = resolve));
    const slow = log.database.transaction(async (tx) => {
      await log.stores.audit.write(tx, organization, ENTRY);
      begun();
      await held;
    });
    await written;
    await log.write(organization, 3);
    await log.sealer().sealNext();
    // later than the open transaction: not sealed before it, or it would be passed
    expect(await log.verify(organization)).toMatchObject({ sealed: 0, unsealed: 3, broken: null });
    finish();
    await slow;
    await log.sealAll();
    expect(await log.verify(organization)).toMatchObject({ sealed: 4, unsealed: 0, broken: null });
  });

  it('a sealer does nothing while another one holds the cursor', async () => {
    const organization = await log.chainOf(1);
    await log.write(organization);
    await log.database.transaction(async (tx) => {
      await tx.query('SELECT FROM audit_seal_cursor FOR UPDATE');
      expect(await log.sealer().sealNext()).toBe(0);
    });
    await log.sealAll();
    expect(await log.verify(organization)).toMatchObject({ sealed: 2, broken: null });
  });

  it('continues after a restore into a cluster with lower transaction ids', async () => {
    const organization = await log.chainOf(9);
    await log.write(organization, 5);
    // as a dump of an older cluster brings it: what is here was written in transactions far ahead
    await log.tamper([
      'UPDATE audit_records SET transaction_id = transaction_id + 1000000000 WHERE id NOT IN (SELECT record_id FROM audit_seals)',
    ]);
    await log.sql('UPDATE audit_seal_cursor SET transaction_id = transaction_id + 900000000');
    await log.write(organization, 2);
    expect(await log.verify(organization)).toMatchObject({ sealed: 9, unsealed: 7, broken: null });
    await log.sealAll(log.sealer(), 3);
    expect(await log.verify(organization)).toMatchObject({ sealed: 16, unsealed: 0, broken: null });
    await log.write(organization, 4);
    await log.sealAll(log.sealer(), 3);
    expect(await log.verify(organization)).toMatchObject({ sealed: 20, unsealed: 0, broken: null });
    // and it is not for ever at the beginning
    expect(
      await until(
        'nothing is left to do',
        async () => !(await log.stores.auditChains.isBehind(log.database.autocommit)),
      ),
    ).toBe(true);
  });

  it('an idle sealer reads one index entry of 200,000 records', async () => {
    // in parts: a busy machine may need longer for all of them than a statement may take
    for (let part = 1; part <= 10; part += 1)
      await log.sql(
        `INSERT INTO audit_records (organization_id, event_type, actor_type)
         SELECT gen_random_uuid(), 'ROLE_CREATED', 'USER' FROM generate_series(1, 20000)`,
      );
    await log.sql('ANALYZE audit_records');
    await log.sql(
      `INSERT INTO audit_seal_cursor (id, transaction_id, sequence)
       SELECT 1, max(transaction_id), max(sequence) FROM audit_records
       ON CONFLICT (id) DO UPDATE SET transaction_id = excluded.transaction_id, sequence = excluded.sequence`,
    );
    const plans: string[] = [];
    const explaining = {
      query: async (statement: string): Promise<unknown> => {
        const lines = await log.sql<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) ${statement}`,
        );
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
        return log.sql(statement);
      },
    };
    await expect(log.stores.auditChains.isBehind(explaining as Tx)).resolves.toBe(false);
    expect(plans[0]).toMatch(/Index Only Scan using audit_records_\d{4}_\d{2}_transaction_id/);
    expect(plans[0]).not.toContain('Seq Scan on audit_records');
  });
});
