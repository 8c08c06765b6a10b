import { CredentialStore, ResourceStore } from '#tenant-store';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { untilBlocked } from '../harness/database/lock-waits';
import { ownDatabase } from '../harness/database/own-database';

const OLD = {};
const NEW = { secret: 'sealed anew' };

describe('The write access that a requested verification proves', () => {
  const database = ownDatabase(3);
  let ledger: LedgerRows;
  let org: LedgerOrganization;
  let id: string;
  const [credentials, resources] = [new CredentialStore(), new ResourceStore()];

  beforeAll(async () => {
    ledger = new LedgerRows(database);
  });
  beforeEach(async () => {
    org = await ledger.organization();
    id = await ledger.resource(org, await ledger.target(), { verified: false });
  });

  const record = (secrets: Record<string, string> | null): Promise<void> =>
    database.transaction(async (tx) => {
      const verified = (await resources.find(tx, org.organizationId, id))!;
      await resources.recordVerification(tx, org.organizationId, verified, secrets, null);
    });
  const rotate = (tx = database.autocommit): Promise<unknown> =>
    credentials.update(tx, org.organizationId, org.credentialId, {
      secrets: { sealedData: NEW, hints: {} },
    });
  const isWriteVerified = async (): Promise<boolean> => {
    const [row] = await ledger.rows<{ verified: boolean }>(
      'SELECT write_verified AS verified FROM resources WHERE id = $1',
      [id],
    );
    return row!.verified;
  };

  it.each([OLD, null])('applies to the secrets %j of the credential', async (secrets) => {
    await record(secrets);
    expect(await isWriteVerified()).toBe(true);
  });

  it('does not apply to secrets that were changed meanwhile', async () => {
    await rotate();
    await record(OLD);
    expect(await isWriteVerified()).toBe(false);
    await record(NEW);
    expect(await isWriteVerified()).toBe(true);
  });

  it('does not apply to secrets that are changed concurrently', async () => {
    let recorded: Promise<void> = Promise.resolve();
    await database.transaction(async (tx) => {
      await rotate(tx);
      recorded = record(OLD);
      // it waits for this transaction, or has recorded before
      await Promise.race([recorded, untilBlocked(database)]);
    });
    await recorded;
    expect(await isWriteVerified()).toBe(false);
  });
});
