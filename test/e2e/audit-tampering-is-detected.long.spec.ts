import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allSealed } from '../builders/audit/audit-trail';
import { organization, type Organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Tampering with the audit trail is detected', () => {
  const drawbridge = Drawbridge.own();
  let org: Organization;
  let slug: string;

  beforeAll(async () => {
    await drawbridge.startWorker();
  });
  beforeEach(async () => {
    org = await organization(drawbridge, []);
    slug = await org.slug();
    await allSealed(drawbridge);
  });

  const verifyAudit = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['audit', 'verify', ...given]);

  /** As the owner of the database could. */
  const tamper = async (statement: string): Promise<void> => {
    await drawbridge.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statement}; COMMIT`);
  };

  it('two workers keep one chain for each organization, and the command verifies it', async () => {
    const other = await organization(drawbridge, []);
    await Promise.all(
      [org, other].flatMap(({ admin }) =>
        Array.from({ length: 20 }, (_, index) => admin.post('/roles', { name: `role ${index}` })),
      ),
    );
    await until('the credential was checked', async () => {
      const { body } = await org.admin.get<{ isValid: boolean | null }>(`/credentials/${org.credentialId}`);
      return body.isValid;
    });
    await allSealed(drawbridge);
    const all = await verifyAudit();
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout).not.toContain('BROKEN');
    const one = await verifyAudit('--organization', slug);
    // registered, a credential and its check, a role, its assignment, twenty roles
    expect(one.stdout).toMatch(
      new RegExp(`^${slug}: holds, 25 records sealed, 0 not sealed yet, ends in 25:[0-9a-f]{64}\n$`),
    );
    expect(all.stdout.split('\n')).toContain(one.stdout.trim());
  });

  it('a changed record is reported with exit code 1, and other organizations are still verified', async () => {
    await tamper(
      `UPDATE audit_records SET actor_email = 'eve@example.com'
       WHERE organization_id = '${org.organizationId}' AND event_type = 'ROLE_CREATED'`,
    );
    const run = await verifyAudit();
    expect(run.code).toBe(1);
    const lines = run.stdout.trim().split('\n');
    expect(lines.filter((line) => line.includes('BROKEN'))).toEqual([
      expect.stringMatching(
        new RegExp(`^${slug}: BROKEN. position 3: record .* \\(ROLE_CREATED of .* is not what`),
      ),
    ]);
    expect(lines.some((line) => line.includes(': holds'))).toBe(true);
    expect((await verifyAudit('--organization', slug)).code).toBe(1);
  });

  it.each([
    [['--organization', 'no-such-organization'], 'There is no organization "no-such-organization"'],
    [['--kept', `4:${'a'.repeat(64)}`], '--kept needs --organization'],
    [['--organization', 'x', '--kept', '4'], 'It must be <position>:<hash>'],
    [['--organisation', 'x'], '--organisation'],
  ])('%j verifies nothing, explains the usage, and exits with 2', async (given, words) => {
    const run = await verifyAudit(...given);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(words);
    expect(run.stderr).toContain('(--help shows the options and examples)');
    expect(run.stderr).not.toMatch(/\n +at /);
  });

  it('without DATABASE_URL it uses the database of npm start, or reports that there is none', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'drawbridge-verify-'));
    const none = await drawbridgeAdmin({ DATA_DIR: dataDir }, ['audit', 'verify']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('npm start');
    const { port, password } = new URL(drawbridge.ownerUrl);
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'port'), port);
    writeFileSync(join(dataDir, 'postgres', 'password'), password);
    const found = await drawbridgeAdmin({ DATA_DIR: dataDir }, ['audit', 'verify']);
    rmSync(dataDir, { recursive: true });
    // the server of the tests has no database of that name: it was asked
    expect(found.stderr).toContain('database "drawbridge" does not exist');
  });
});
