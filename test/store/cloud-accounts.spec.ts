import { AccountListStore, CloudAccountStore, CredentialStore } from '#tenant-store';
import { AgentWatchStore, SweepStore } from '#engine-store';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const ACCOUNT = '222222222222';

describe('Accounts of a credential', () => {
  const database = ownDatabase(6);
  const store = new CloudAccountStore();
  const lists = new AccountListStore();
  let rows: LedgerRows;
  let org: LedgerOrganization;
  let other: LedgerOrganization;

  beforeAll(() => {
    rows = new LedgerRows(database);
  });
  beforeEach(async () => {
    [org, other] = [await rows.organization(), await rows.organization()];
  });

  const use = (account = ACCOUNT, owner = org): Promise<string | null> =>
    database.transaction((tx) => store.use(tx, owner.organizationId, org.credentialId, account));
  const derived = (): Promise<{ id: string; deleted: boolean }[]> =>
    rows.rows('SELECT id, deleted_at IS NOT NULL AS deleted FROM credentials WHERE parent_id = $1', [
      org.credentialId,
    ]);
  const resourceIn = async (credentialId: string): Promise<string> =>
    rows.resource({ ...org, credentialId }, await rows.target());
  const leave = (id: string, owner = org): Promise<void> =>
    database.transaction((tx) => store.leave(tx, owner.organizationId, id));

  it('are one row each, whoever comes first', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => use()));
    expect(new Set(ids).size).toBe(1);
    expect(await use('333333333333')).not.toBe(ids[0]);
    expect(await derived()).toHaveLength(2);
  });

  it('are of the credential’s organization', async () => {
    expect(await use(ACCOUNT, other)).toBeNull();
    const id = (await use())!;
    const { autocommit } = database;
    await leave(id, other);
    expect(await derived()).toEqual([{ id, deleted: false }]);
    expect(await store.rowOf(autocommit, other.organizationId, org.credentialId, ACCOUNT)).toBeNull();
    await store.note(autocommit, org.organizationId, org.credentialId, ACCOUNT);
    const foreign = await store.list(autocommit, other.organizationId, org.credentialId, {});
    expect(foreign.rows).toEqual([]);
    expect(await store.requestList(autocommit, other.organizationId, org.credentialId)).toBe(false);
    await expect(
      store.label(autocommit, other.organizationId, org.credentialId, '444444444444', 'x'),
    ).rejects.toThrow('cloud_accounts_credential_fkey');
    const credentials = new CredentialStore();
    expect(await credentials.find(autocommit, org.organizationId, id)).toBeNull();
    expect(await credentials.lock(autocommit, org.organizationId, id)).toBeNull();
    expect(await credentials.update(autocommit, org.organizationId, id, { name: 'x' })).toBeNull();
    expect((await credentials.list(autocommit, org.organizationId, {})).rows).toHaveLength(1);
  });

  it('stay for a resource that comes while another one goes', async () => {
    const id = (await use())!;
    const [going] = [await resourceIn(id)];
    await database.transaction(async (tx) => {
      expect(await store.use(tx, org.organizationId, org.credentialId, ACCOUNT)).toBe(id);
      const left = database.transaction(async (later) => {
        await later.query('UPDATE resources SET deleted_at = now() WHERE id = $1', [going]);
        await store.leave(later, org.organizationId, id);
      });
      await tx.query(
        `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id)
         SELECT organization_id, 'coming', credential_id, provider, resource_type, resource_identifier, target_id
         FROM resources WHERE id = $1`,
        [going],
      );
      void left;
    });
    await leave(id);
    expect(await derived()).toEqual([{ id, deleted: false }]);
  });

  it('go with their last rule, and the credential not before them', async () => {
    const id = (await use())!;
    const resource = await resourceIn(id);
    await rows.rows('UPDATE resources SET deleted_at = now() WHERE id = $1', [resource]);
    await leave(id);
    await database.transaction((tx) =>
      new CredentialStore().remove(tx, org.organizationId, org.credentialId),
    );
    const sweep = new SweepStore(new AgentWatchStore());
    const purge = async (): Promise<number> => {
      await rows.rows('UPDATE credentials SET check_due_at = now() WHERE deleted_at IS NOT NULL');
      await database.transaction((tx) => sweep.purgeCredentials(tx, 10));
      return (await rows.rows('SELECT FROM credentials WHERE $1 IN (id, parent_id)', [org.credentialId]))
        .length;
    };
    expect(await purge()).toBe(2);
    await rows.rows('DELETE FROM resources WHERE id = $1', [resource]);
    expect(await purge()).toBe(0);
  });

  it('that the provider no longer lists are forgotten after 30 days, unless labelled or in use', async () => {
    const { autocommit } = database;
    const list = async (...accounts: string[]): Promise<void> => {
      await rows.rows('UPDATE credentials SET accounts_due_at = now() WHERE id = $1', [org.credentialId]);
      const [due] = await lists.take(autocommit, 10, 60);
      const listed = accounts.map((account) => ({ account, label: 'listed', state: 'ACTIVE' }));
      await database.transaction((tx) => lists.settle(tx, due!, listed));
    };
    await list('1', '2', '3');
    await store.label(autocommit, org.organizationId, org.credentialId, '2', 'by hand');
    await list('1');
    const known = (): Promise<unknown> =>
      rows.rows('SELECT account, state FROM cloud_accounts WHERE credential_id = $1 ORDER BY account', [
        org.credentialId,
      ]);
    expect(await known()).toEqual([
      { account: '1', state: 'ACTIVE' },
      { account: '2', state: null },
      { account: '3', state: null },
    ]);
    await rows.rows(`UPDATE cloud_accounts SET listed_at = now() - interval '31 days'`);
    await list('1');
    expect(await known()).toEqual([
      { account: '1', state: 'ACTIVE' },
      { account: '2', state: null },
    ]);
  });
});
