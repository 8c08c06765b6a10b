import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { auditSealHash, BEFORE_FIRST_RECORD } from '#secrets';
import type { SealedRecord } from '#tenant-store';
import { allSealed, auditRecords } from '../builders/audit/audit-trail';
import { organization, ownOrganization, type Organization } from '../builders/accounts/organization';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const ROOT = resolve(__dirname, '../..');
const EXPORT = '/audit-logs/export';
const BUSY = 'Another export of this organization is running: wait for its end, or end it';

describe('An export is what is sealed', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let client: Client;

  beforeEach(async () => {
    client = new Client({ connectionString: drawbridge.ownerUrl });
    await client.connect();
  });
  afterEach(() => client.end());

  /** An organization with `count` more records, each a minute before the one that was written before it. */
  const withRecords = async (count: number, name = 'role'): Promise<Organization> => {
    const own = await organization(drawbridge, []);
    await until(
      'no record of its own is to come',
      async () => (await auditRecords(own.admin, '?eventType=CREDENTIAL_VERIFIED')).length === 1,
    );
    await drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
       SELECT $1, 'ROLE_DELETED', 'SYSTEM', $3 || n, now() - make_interval(mins => n) FROM generate_series(1, $2::int) n`,
      [own.organizationId, count, name],
    );
    await allSealed(drawbridge, own.organizationId);
    return own;
  };

  interface Exported {
    readonly records: SealedRecord[];
    readonly end: { readonly position: string; readonly hash: string; readonly records: number };
  }
  const exported = async (of: Organization, query = ''): Promise<Exported> => {
    const text = await of.admin.expect(200, of.admin.get<string>(`${EXPORT}${query}`));
    const lines = text.trimEnd().split('\n');
    const [{ end }] = [JSON.parse(lines.pop()!) as Pick<Exported, 'end'>];
    return { end, records: lines.map((line) => JSON.parse(line) as SealedRecord) };
  };
  const names = ({ records }: Exported): (string | null)[] =>
    records.map(({ record }) => record!.resourceName).filter((name) => /^role\d/.test(name ?? ''));

  it('in the order of sealing, and each record can be verified', async () => {
    const own = await withRecords(1200);
    const { records, end } = await exported(own);
    const [last] = await drawbridge.query(
      `SELECT s.position::text, s.hash FROM audit_seals s WHERE s.organization_id = $1 ORDER BY s.position DESC LIMIT 1`,
      [own.organizationId],
    );
    expect(end).toEqual({ ...last, records: records.length });
    expect(records.map(({ position }) => position)).toEqual(records.map((_, index) => String(index + 1)));
    for (const { hashBefore, hash, record } of records)
      expect(auditSealHash(hashBefore!, record!)).toBe(hash);
    const hashes = [BEFORE_FIRST_RECORD, ...records.map(({ hash }) => hash)];
    expect([...records.map(({ hashBefore }) => hashBefore), end.hash]).toEqual(hashes);
    expect((await exported(own, `?after=${end.position}`)).records).toEqual([]);
    expect((await exported(own, '?after=1190')).records).toEqual(records.slice(1190));
  });

  it('from and to are both included', async () => {
    const own = await withRecords(5);
    const times = (await exported(own)).records.map(({ record }) =>
      new Date(record!.timestamp).toISOString(),
    );
    const [second, , fourth] = times.slice(-4);
    expect(names(await exported(own, `?from=${fourth}&to=${second}`))).toEqual(['role2', 'role3', 'role4']);
    expect(names(await exported(own, `?to=${fourth}`))).toEqual(['role4', 'role5']);
    expect(names(await exported(own, `?from=${new Date(Date.parse(second!) + 1).toISOString()}`))).toEqual([
      'role1',
    ]);
  });

  it('what is not sealed yet is left out, and comes later', async () => {
    const own = await withRecords(1);
    // the sealer waits for transactions that may still write a record
    await client.query('BEGIN; SELECT pg_current_xact_id()');
    await own.admin.created('/roles', { name: 'late' });
    const before = await exported(own);
    expect(names(before)).toEqual(['role1']);
    await client.query('COMMIT');
    await allSealed(drawbridge, own.organizationId);
    const { records } = await exported(own, `?after=${before.end.position}`);
    expect(records).toMatchObject([{ hashBefore: before.end.hash, record: { eventType: 'ROLE_CREATED' } }]);
  });

  it('without what the operator has exported and dropped', async () => {
    const own = await withRecords(3);
    const all = await exported(own);
    const range = [own.organizationId, BEFORE_FIRST_RECORD, all.records[1]!.hash];
    await client.query(
      `INSERT INTO audit_exports (organization_id, first_position, last_position, hash_before, hash, month)
       VALUES ($1, 1, 2, $2, $3, '2026-01')`,
      range,
    );
    expect((await exported(own)).records).toEqual(all.records.slice(2));
    await client.query(
      'DELETE FROM audit_seals WHERE organization_id = $1 AND position <= 2',
      range.slice(0, 1),
    );
    expect((await exported(own)).records).toEqual(all.records.slice(2));
  });

  it('as CSV no cell is a formula', async () => {
    const own = await withRecords(1, '=HYPERLINK("//a") ');
    const { headers, body } = await own.admin.get<string>(`${EXPORT}?format=csv`);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toBe('attachment; filename=audit.csv');
    const lines = body.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^position,hashBefore,hash,id,timestamp,eventType,.*,details$/);
    expect(lines.at(-2)).toContain(`,ROLE_DELETED,SYSTEM,,,,,"'=HYPERLINK(""//a"") 1",SUCCESS,,,{}`);
    expect(lines.at(-1)).toMatch(/^end,\d+,[\da-f]{64},\d+ records$/);
  });

  it.each([
    ['from=yesterday', 'from'],
    ['to=1', 'to'],
    ['from=2026-02-01&to=2026-01-01', 'from'],
    ['after=-1', 'after'],
    ['after=1000000', 'after'],
    ['format=xml', 'format'],
  ])('400 for %s names the field', async (query, field) => {
    const answer = await org.admin.get<{ validationErrors: object }>(`${EXPORT}?${query}`);
    expect([answer.status, Object.keys(answer.body.validationErrors)]).toEqual([400, [field]]);
  });

  /** Runs `work` while an export waits in a statement. */
  const whileOneRuns = async (work: (running: Promise<Answer<string>>) => Promise<void>): Promise<void> => {
    await client.query('BEGIN; LOCK TABLE audit_exports');
    const running = org.admin.get<string>(`${EXPORT}?format=csv`);
    const settled = running.catch(() => undefined);
    await until('it waits', waiting);
    await work(running);
    await client.query('COMMIT');
    await settled;
  };
  const waiting = async (): Promise<number | undefined> => {
    const [found] = await drawbridge.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%hashBefore%'`,
    );
    return found?.pid;
  };

  it('the script of docs/siem.md appends each record once', async () => {
    const own = await withRecords(3);
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-pull-'));
    const [, script] = /```sh\n(#!\/bin\/sh\n.*?)```/s.exec(
      readFileSync(join(ROOT, 'docs/siem.md'), 'utf8'),
    )!;
    const { plainTextKey } = await own.admin.created<{ plainTextKey: string }>('/api-keys', {
      name: 'siem',
      scopes: ['audit:read'],
      userId: own.adminId,
    });
    const pull = async (): Promise<SealedRecord[]> => {
      await allSealed(drawbridge, own.organizationId);
      execFileSync('sh', ['-c', script!, 'pull', join(folder, 'audit.jsonl')], {
        env: {
          ...process.env,
          DRAWBRIDGE_URL: `http://127.0.0.1:${drawbridge.apiServer.port}`,
          DRAWBRIDGE_API_KEY: plainTextKey,
        },
      });
      const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trimEnd().split('\n');
      return lines.map((line) => JSON.parse(line) as SealedRecord);
    };
    expect(await pull()).toEqual((await exported(own)).records);
    await own.admin.created('/roles', { name: 'later' });
    expect(await pull()).toEqual((await exported(own)).records);
    rmSync(folder, { recursive: true });
  });

  it('one at a time for an organization', async () => {
    const other = await organization(drawbridge, []);
    await whileOneRuns(async () => {
      expect(await org.admin.get(EXPORT)).toMatchObject({ status: 429, body: { message: BUSY } });
      expect((await other.admin.send('HEAD', EXPORT)).status).toBe(200);
    });
    expect((await exported(org)).records).not.toEqual([]);
  });

  it('that fails on its way ends the connection', async () => {
    await whileOneRuns(async (running) => {
      await client.query('SELECT pg_cancel_backend($1)', [await waiting()]);
      await expect(running).rejects.toThrow('terminated');
    });
    await exported(org);
  });
});
