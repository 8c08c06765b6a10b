import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { auditSealHash, BEFORE_FIRST_RECORD, newSigningKey } from '#secrets';
import { Database } from '#entities';
import { AuditChainStore } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { allSealed } from '../builders/audit/audit-trail';
import { organization, type Organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasFaketime, skewedClock } from '../harness/machines/skewed-clock';
import { until } from '../harness/until';

const withFaketime = hasFaketime ? describe : describe.skip;

describe('Signed checkpoints of the audit trail', () => {
  let folder: string;
  const drawbridge = Drawbridge.own();
  let org: Organization;
  let slug: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-checkpoints-'));
    const pem = newSigningKey();
    writeFileSync(join(folder, 'private.pem'), pem);
    const publicKey = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' });
    writeFileSync(join(folder, 'public.pem'), publicKey);
    writeFileSync(join(folder, 'other.pem'), newSigningKey());
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeEach(async () => {
    org = await organization(drawbridge, []);
    // its check in the background leaves a record: not while a chain is rewritten
    await drawbridge.query(`UPDATE credentials SET check_due_at = now() + interval '1 day'`);
    slug = await org.slug();
    for (let index = 0; index < 5; index += 1) await org.admin.post('/roles', { name: `role ${index}` });
    await allSealed(drawbridge);
  });

  const audit = (env: Record<string, string>, ...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl, ...env }, ['audit', ...given]);
  const signAudit = (env: Record<string, string> = {}): Promise<AdminRun> =>
    audit({ AUDIT_SIGNING_KEY_FILE: join(folder, 'private.pem'), ...env }, 'sign');
  const verifyAudit = (...keys: string[]): Promise<AdminRun> => {
    const given = keys.flatMap((key) => ['--public-key', join(folder, key)]);
    return audit({}, 'verify', '--organization', slug, ...given);
  };

  /** As the owner of the database could. */
  const tamper = (statement: string): Promise<object[]> =>
    drawbridge.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statement}; COMMIT`);

  /** Computes the whole chain anew over what the records are now. */
  const rewriteChain = async (): Promise<void> => {
    const database = await new Database({
      url: drawbridge.ownerUrl,
      applicationName: 'rewrite',
      poolSize: 1,
    }).connect();
    const links = await new AuditChainStore().linksAfter(
      database.autocommit,
      org.organizationId as OrganizationId,
      '0',
      1000,
    );
    await database.close();
    let previous = BEFORE_FIRST_RECORD;
    const updates = links.map(({ position, record }) => {
      previous = auditSealHash(previous, record!);
      return `UPDATE audit_seals SET hash = '${previous}'
        WHERE organization_id = '${org.organizationId}' AND position = ${position}`;
    });
    await tamper(updates.join(';'));
  };

  const changeRecord = (): Promise<object[]> =>
    tamper(`UPDATE audit_records SET actor_email = 'eve@example.com'
      WHERE organization_id = '${org.organizationId}' AND event_type = 'ROLE_CREATED'`);

  it('a signed chain is valid, and the command reports how far it is signed', async () => {
    const signed = await signAudit();
    expect(signed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\d+ checkpoints signed/) as string,
    });
    const checkpoint = JSON.parse(signed.stdout.trim().split('\n').at(-1)!) as { position: string };
    expect(checkpoint).toMatchObject({
      position: expect.stringMatching(/^\d+$/) as string,
      signature: expect.any(String) as string,
    });
    const verified = await verifyAudit('public.pem');
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    const [, sealed, signedTo] = /(\d+) records sealed.* signed up to (\d+), ends in/.exec(verified.stdout)!;
    expect(signedTo).toBe(checkpoint.position);
    // a credential that is checked in the background leaves a record, too
    expect(Number(sealed)).toBeGreaterThanOrEqual(Number(signedTo));
  });

  withFaketime('with a wrong clock', () => {
    it('the time of signing is the database’s', async () => {
      const { stdout } = await signAudit(skewedClock(-3600));
      const { signedAt } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { signedAt: string };
      const [row] = await drawbridge.query<{ ago: number }>(
        'SELECT extract(epoch FROM now() - $1)::float8 AS ago',
        [signedAt],
      );
      expect(row!.ago).toBeGreaterThanOrEqual(0);
      expect(row!.ago).toBeLessThan(600);
      expect(await verifyAudit('public.pem')).toMatchObject({ code: 0 });
    });
  });

  it('a chain that the owner rewrote consistently is detected, with the position', async () => {
    await signAudit();
    await changeRecord();
    await rewriteChain();
    // the chain by itself holds
    expect((await verifyAudit()).stdout).toContain(`${slug}: holds`);
    const run = await verifyAudit('public.pem');
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(
      /BROKEN\. position \d+: the hash is not the one signed at .*, the chain was rewritten after position 0/,
    );
  });

  it('the last valid checkpoint before a change is reported', async () => {
    await signAudit();
    const before = Number(/signed up to (\d+)/.exec((await verifyAudit('public.pem')).stdout)![1]);
    // the next position is 10 as a rule, which as a text is before 9
    await org.admin.post('/roles', { name: 'later' });
    await allSealed(drawbridge);
    await signAudit();
    await tamper(`UPDATE audit_records SET actor_email = 'eve@example.com'
      WHERE organization_id = '${org.organizationId}' AND resource_name = 'later'`);
    await rewriteChain();
    expect((await verifyAudit('public.pem')).stdout).toContain(`was rewritten after position ${before} `);
  });

  it('a rewritten chain with forged checkpoints is detected', async () => {
    await signAudit();
    await changeRecord();
    await rewriteChain();
    await tamper(`UPDATE audit_checkpoints c SET hash = s.hash FROM audit_seals s
      WHERE s.organization_id = c.organization_id AND s.position = c.position`);
    const run = await verifyAudit('public.pem');
    expect(run).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('signature that is not valid') as string,
    });
  });

  it('a truncated chain is detected', async () => {
    await signAudit();
    const cut = `organization_id = '${org.organizationId}' AND position > 2`;
    await tamper(`DELETE FROM audit_records WHERE id IN (SELECT record_id FROM audit_seals WHERE ${cut});
      DELETE FROM audit_seals WHERE ${cut}`);
    const run = await verifyAudit('public.pem');
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/the chain ends at 2, before position \d+, which was signed at/);
  });

  it('the removal of all checkpoints is detected', async () => {
    await signAudit();
    await tamper(`UPDATE audit_records SET timestamp = timestamp - interval '3 hours'
      WHERE organization_id = '${org.organizationId}'`);
    await rewriteChain();
    await tamper(`DELETE FROM audit_checkpoints WHERE organization_id = '${org.organizationId}'`);
    const run = await verifyAudit('public.pem');
    expect(run).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('nothing was signed after position 0') as string,
    });
  });

  it('a worker with a key signs when it starts, and logs each checkpoint', async () => {
    const worker = await drawbridge.startWorker({
      AUDIT_SIGNING_KEY_FILE: join(folder, 'private.pem'),
      LOG_LEVEL: 'info',
    });
    await until('the end of the chain is signed', async () =>
      /signed up to [1-9]/.test((await verifyAudit('public.pem')).stdout),
    );
    expect(worker.output).toContain('"msg":"Audit checkpoint"');
    for (const line of worker.output.trim().split('\n'))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    await worker.stop();
  });

  it('a worker with an invalid key file does not start, and explains how to create one', async () => {
    writeFileSync(join(folder, 'empty.pem'), '');
    await expect(
      drawbridge.startWorker({ AUDIT_SIGNING_KEY_FILE: join(folder, 'empty.pem') }),
    ).rejects.toThrow(/ended \(78\)[^]*AUDIT_SIGNING_KEY_FILE must be a readable file.*openssl genpkey/);
  });
});
