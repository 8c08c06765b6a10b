import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { OrganizationId } from '#rules';
import { AuditExport, type MonthOutcome } from '../../apps/worker/src/audit/audit-export';
import { ChainVerifier, type ChainReport, type KeptLink } from '../../apps/worker/src/audit/chain-verifier';
import { ExportFolder } from '../../apps/worker/src/audit/export-folder';
import { AuditChainBench } from '../builders/audit/audit-chain';
import { auditMonths, month } from '../builders/audit/audit-months';
import { LedgerRows } from '../builders/sessions/ledger';

const MONTHS = 4;

describe('The export of audit records', () => {
  const log = new AuditChainBench();
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-export-'));
    await auditMonths(
      { query: async (text: string) => ({ rows: await log.sql(text) }) } as unknown as Client,
      MONTHS,
    );
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Records of a month, one an hour. */
  const happened = (organization: OrganizationId, ahead: number, count: number): Promise<unknown> =>
    log.sql(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
       SELECT $1, 'ROLE_DELETED', 'SYSTEM', 'role ' || n, (${month(ahead)} + n * interval '1 hour') AT TIME ZONE 'UTC'
       FROM generate_series(1, $2::int) n`,
      [organization, count],
    );

  /** An organization with ten records in each of the last months. */
  const organization = async (): Promise<OrganizationId> => {
    const id = await log.chainOf(0);
    for (let ahead = -MONTHS; ahead <= 0; ahead += 1) await happened(id, ahead, 10);
    await log.sealAll();
    return id;
  };

  const exportMonths = async (keptMonths: number, isDropped = true): Promise<MonthOutcome[]> => {
    const outcomes: MonthOutcome[] = [];
    for await (const { outcome } of new AuditExport(
      log.database,
      log.stores.auditExports,
      new ExportFolder(folder),
    ).run(keptMonths, isDropped))
      outcomes.push(outcome);
    return outcomes;
  };
  const verify = (
    id: OrganizationId,
    from: string | null,
    kept: KeptLink | null = null,
  ): Promise<ChainReport> =>
    new ChainVerifier(log.database, log.stores, () => undefined, {
      batchSize: 7,
      exports: from === null ? null : new ExportFolder(from),
    }).verify(id, kept);
  const files = (id: OrganizationId): string[] => readdirSync(folder).filter((name) => name.includes(id));
  const rewrite = (file: string, change: (lines: string[]) => string[]): void => {
    const path = join(folder, file);
    writeFileSync(path, `${change(readFileSync(path, 'utf8').trimEnd().split('\n')).join('\n')}\n`);
  };

  it('drops what was exported; the chain holds across it and goes on', async () => {
    const [one, other] = [await organization(), await organization()];
    expect(await verify(one, folder)).toMatchObject({ sealed: 50, exported: 0, broken: null });
    expect(await exportMonths(2)).toEqual(['dropped', 'dropped']);
    for (const id of [one, other]) {
      expect(await verify(id, folder)).toMatchObject({ sealed: 50, exported: 20, unsealed: 0, broken: null });
      expect(await verify(id, null)).toMatchObject({ sealed: 50, exported: 20, unsealed: 0, broken: null });
    }
    expect(await log.sql('SELECT FROM audit_records')).toHaveLength(60);
    expect(await log.sql('SELECT FROM audit_seals')).toHaveLength(60);
    await log.write(one, 3);
    await log.sealAll();
    expect(await verify(one, folder)).toMatchObject({ sealed: 53, exported: 20, broken: null });
    expect(await exportMonths(1)).toEqual(['dropped']);
    expect(await exportMonths(1)).toEqual([]);
    expect(await verify(one, folder)).toMatchObject({ sealed: 53, exported: 30, broken: null });
  });

  it('writes files only, unless it is asked to drop', async () => {
    const id = await organization();
    expect(await exportMonths(1, false)).toEqual(['exported', 'exported', 'exported']);
    expect(await exportMonths(1, false)).toEqual(['exported', 'exported', 'exported']);
    expect(files(id)).toHaveLength(3);
    expect(await log.sql('SELECT FROM audit_records')).toHaveLength(50);
    expect(await verify(id, folder)).toMatchObject({ sealed: 50, exported: 0, broken: null });
  });

  it('holds where months interleave: late records, and transactions across midnight', async () => {
    const id = await log.chainOf(0);
    for (const ahead of [-4, -3, -4, -3, -4, -2]) await happened(id, ahead, 2);
    await log.sealAll();
    // a record that was written long after its action
    await happened(id, -4, 1);
    await log.sealAll();
    expect(await exportMonths(3)).toEqual(['dropped']);
    expect(files(id)).toHaveLength(4);
    expect(await verify(id, folder)).toMatchObject({ sealed: 13, exported: 7, broken: null });
    expect(await exportMonths(2)).toEqual(['dropped']);
    expect(await verify(id, folder)).toMatchObject({ sealed: 13, exported: 11, broken: null });
    expect(await verify(id, null)).toMatchObject({ sealed: 13, exported: 11, broken: null });
  });

  it('of the last records of an organization leaves a chain that the sealer continues', async () => {
    const id = await log.chainOf(0);
    await happened(id, -3, 5);
    await log.sealAll();
    expect(await exportMonths(2)).toEqual(['dropped', 'dropped']);
    expect(await log.sql('SELECT FROM audit_records')).toEqual([]);
    expect(await verify(id, folder)).toMatchObject({ sealed: 5, exported: 5, broken: null });
    await log.write(id, 2);
    await log.sealAll();
    expect(await verify(id, folder)).toMatchObject({ sealed: 7, exported: 5, broken: null });
  });

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    [
      'a changed record',
      (lines) => lines.map((line) => line.replace('role 4"', 'role 5"')),
      /position 4: record/,
    ],
    ['a removed line', (lines) => lines.toSpliced(4, 1), /position 5 is missing/],
    ['a line that is no JSON', (lines) => lines.with(2, '{'), /no JSON/],
    ['a missing end', (lines) => lines.slice(0, -1), /does not end as the database says/],
    ['records after the end', (lines) => [...lines, lines[0]!], /goes on after its end/],
  ])('with %s is detected', async (_what, change, problem) => {
    const id = await organization();
    await exportMonths(2);
    rewrite(
      files(id).find((name) => name.includes('-1-10.'))!,
      change,
    );
    expect((await verify(id, folder)).broken).toMatch(problem);
    // and without reading the files, the chain goes on from the recorded end
    expect(await verify(id, null)).toMatchObject({ sealed: 50, broken: null });
  });

  it('that is missing is detected', async () => {
    const id = await organization();
    await exportMonths(2);
    rmSync(join(folder, files(id)[0]!));
    expect((await verify(id, folder)).broken).toMatch(/its export is missing/);
  });

  it('that never was, forged by the owner of the tables, is detected; without the files it counts as not read', async () => {
    const id = await organization();
    const forged = `SELECT * FROM audit_seals WHERE organization_id = $1 AND position <= 10`;
    await log.tamper(
      [
        `INSERT INTO audit_exports (organization_id, first_position, last_position, hash_before, hash, month)
         SELECT organization_id, 1, position, repeat('0', 64), hash, '2020-01' FROM (${forged}) s WHERE position = 10`,
        [id],
      ],
      [`DELETE FROM audit_records WHERE id IN (SELECT record_id FROM (${forged}) s)`, [id]],
      ['DELETE FROM audit_seals WHERE organization_id = $1 AND position <= 10', [id]],
    );
    expect((await verify(id, folder)).broken).toMatch(/its export is missing/);
    expect(await verify(id, null)).toMatchObject({ sealed: 50, exported: 10, broken: null });
  });

  it('is recorded with its end: another recorded end, a removed one and a kept end that differs are detected', async () => {
    const id = await organization();
    await exportMonths(2);
    const [{ hash }] = (await log.sql(
      'SELECT hash FROM audit_exports WHERE organization_id = $1 AND last_position = 20',
      [id],
    )) as [{ hash: string }];
    expect(await verify(id, null, { position: 20n, hash })).toMatchObject({ broken: null });
    expect((await verify(id, null, { position: 20n, hash: 'a'.repeat(64) })).broken).toMatch(
      /position 20: the hash/,
    );
    await expect(log.sql(`UPDATE audit_exports SET hash = ''`)).rejects.toThrow('append-only');
    await log.tamper([`UPDATE audit_exports SET hash = repeat('b', 64) WHERE last_position = 20`]);
    expect((await verify(id, folder)).broken).toMatch(/does not end as the database says/);
    expect((await verify(id, null)).broken).toMatch(/position 21/);
    await log.tamper([`DELETE FROM audit_exports WHERE last_position = 20`]);
    expect((await verify(id, null)).broken).toMatch(/position 11 is missing/);
  });

  it('refuses a month whose chain is broken, or not sealed', async () => {
    const id = await organization();
    await happened(id, -4, 1);
    expect(await exportMonths(3)).toEqual(['unsealed']);
    await log.sealAll();
    await log.tamper([
      `UPDATE audit_records SET resource_name = 'x' WHERE organization_id = $1 AND resource_name = 'role 3'`,
      [id],
    ]);
    await expect(exportMonths(3)).rejects.toThrow(`chain of organization ${id} is broken at position 3`);
    expect(await log.sql('SELECT FROM audit_records')).toHaveLength(51);
    expect(await log.sql('SELECT FROM audit_exports')).toEqual([]);
  });

  it('never drops a month in which something began that is open', async () => {
    await organization();
    const ledger = new LedgerRows(log.database);
    const { organizationId, userId } = await ledger.organization();
    const targetId = await ledger.target();
    const at = (ahead: number): string => `${month(ahead)} AT TIME ZONE 'UTC' + interval '3 days'`;
    // a rule that may be present, a session that could not be closed, and a static IP rule that is applied
    await log.sql(
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, possible_since)
       VALUES ($1, 'k', '203.0.113.7/32', 'tcp', '22', 'unknown', ${at(-4)})`,
      [targetId],
    );
    await log.sql(
      `INSERT INTO sessions (organization_id, user_id, ipv4_address, status, expires_at, created_at)
       VALUES ($1, $2, '203.0.113.7', 'EXPIRING', ${at(-3)}, ${at(-3)})`,
      [organizationId, userId],
    );
    await log.sql(
      `WITH r AS (INSERT INTO static_ip_rules (organization_id, label, ip_address, created_by_email)
         VALUES ($1, 'office', '203.0.113.0/24', 'a@example.com') RETURNING id)
       INSERT INTO resource_ips (organization_id, static_ip_rule_id, resource_id, ip_version, ip_address, status, created_at)
       SELECT $1, id, gen_random_uuid(), 4, '203.0.113.0/24', 'APPLIED', ${at(-2)} FROM r`,
      [organizationId],
    );
    expect(await exportMonths(1)).toEqual(['open', 'open', 'open']);
    expect(await log.sql('SELECT FROM audit_records')).toHaveLength(50);
    await log.sql(`UPDATE sessions SET status = 'EXPIRED'`);
    expect(await exportMonths(1)).toEqual(['open', 'dropped', 'open']);
    await log.sql('DELETE FROM rules');
    await log.sql(`UPDATE resource_ips SET status = 'REMOVED'`);
    expect(await exportMonths(1)).toEqual(['dropped', 'dropped']);
  });

  it('waits for no reader, and makes nobody wait', async () => {
    const id = await organization();
    const reader = log.database.transaction(async (tx) => {
      await tx.query('SELECT FROM audit_records LIMIT 1');
      // each attempt gives way: the database ends a statement that waits for the reader, too
      for (let written = 0; written < 20; written += 1) await log.write(id);
    });
    const outcome = exportMonths(3);
    await reader;
    expect(await outcome).toEqual(['dropped']);
    await log.sealAll();
    expect(await verify(id, folder)).toMatchObject({ sealed: 70, exported: 10, broken: null });
  });
});
