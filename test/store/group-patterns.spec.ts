import { randomInt, randomUUID } from 'node:crypto';
import type { OrganizationId } from '#rules';
import { RoleStore, TenantStores } from '#tenant-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

/** 1,000 of them take a minute. */
const CHANGES = Number(process.env['CHANGES'] ?? 60);
const ROLES = ['developers', 'operations', 'mapped', 'by hand'];

describe('A pattern of groups', () => {
  const database = ownDatabase(4);
  let organization: OrganizationId;
  let member: { id: string; email: string };
  const provider = { id: randomUUID(), name: 'Example Ltd' };
  const { groupRoles: groups } = new TenantStores();
  const roleIds = new Map<string, string>();

  const held = async (): Promise<string[]> => {
    const rows = await database.autocommit.query<{ name: string }[]>(
      `SELECT r.name FROM role_users m JOIN roles r ON r.id = m.role_id WHERE m.user_id = $1 ORDER BY r.name`,
      [member.id],
    );
    return rows.map(({ name }) => name);
  };
  const vouch = (named: readonly string[]): Promise<unknown> =>
    database.transaction((tx) => groups.apply(tx, organization, provider, { ...member, groups: named }));
  const setPattern = (pattern: string | null): Promise<unknown> =>
    database.autocommit.query('UPDATE identity_providers SET group_pattern = $2 WHERE id = $1', [
      provider.id,
      pattern,
    ]);

  beforeAll(async () => {
    const tx = database.autocommit;
    const { organizationId, userId, email } = await new LedgerRows(database).organization();
    organization = organizationId;
    member = { id: userId, email };
    await tx.query(
      `INSERT INTO identity_providers (id, organization_id, name, issuer, client_id, sealed_data, created_by_email, group_pattern)
       VALUES ($1, $2, 'Example Ltd', 'https://login.example.com', 'drawbridge', '{}', 'ada@example.com', 'db-*-team')`,
      [provider.id, organization],
    );
    for (const name of ROLES) {
      const role = await new RoleStore().create(tx, organization, { name });
      roleIds.set(name, role!.id);
    }
    await tx.query(
      `INSERT INTO group_mappings (organization_id, provider_id, group_name, role_id) VALUES ($1, $2, 'staff', $3)`,
      [organization, provider.id, roleIds.get('mapped')],
    );
    await new RoleStore().assign(tx, organization, roleIds.get('by hand')!, { kind: 'user', id: member.id });
  });

  it('gives the role that is named under its *, and no other group does', async () => {
    await vouch(['db-developers-team', 'db-nothing-team', 'db--team', 'operations', 'xdb-operations-team']);
    expect(await held()).toEqual(['by hand', 'developers']);
    await vouch(['db-mapped-team', 'staff']);
    expect(await held()).toEqual(['by hand', 'mapped']);
    await vouch(['db-mapped-team']);
    expect(await held()).toEqual(['by hand']);
  });

  it('takes only what it gave, whatever the groups are', async () => {
    for (let round = 0; round < CHANGES; round += 1) {
      const named = ['developers', 'operations', 'by hand'].filter(() => randomInt(2) === 0);
      await vouch(named.map((name) => `db-${name}-team`));
      expect(await held()).toEqual([...new Set(['by hand', ...named])].toSorted());
    }
  });

  it('leaves its members, as an administrator’s or not at all', async () => {
    const leave = (memberships: 'KEEP' | 'REMOVE'): Promise<unknown> =>
      database.transaction((tx) => groups.leavePattern(tx, organization, provider, memberships));
    await vouch(['db-operations-team']);
    expect(await groups.hasGiven(database.autocommit, organization, provider.id)).toBe(true);
    await leave('KEEP');
    expect(await groups.hasGiven(database.autocommit, organization, provider.id)).toBe(false);
    await vouch(['db-developers-team']);
    await leave('REMOVE');
    expect(await held()).toEqual(['by hand', 'operations']);
    await setPattern(null);
    await vouch(['db-developers-team']);
    expect(await held()).toEqual(['by hand', 'operations']);
  });
});
