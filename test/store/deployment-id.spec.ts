import { randomUUID } from 'node:crypto';
import { DeploymentId } from '#connections';
import { DeploymentIdStore } from '#engine-store';
import { ownDatabase } from '../harness/database/own-database';

describe('The id of an installation', () => {
  const database = ownDatabase(2);
  const keep = async (given?: string): Promise<string> =>
    (await DeploymentId.keep(database.autocommit, new DeploymentIdStore(), given)).value;

  beforeEach(() =>
    database.autocommit.query('UPDATE deployment SET deployment_id = own_deployment_id(), is_used = false'),
  );

  it('is made by the first migration, and differs from that of others', async () => {
    const made = await keep();
    expect(made).toMatch(/^d-[0-9a-f]{12}$/);
    expect(await keep()).toBe(made);
    expect(await keep(made)).toBe(made);
    const [other] = await database.autocommit.query<{ id: string }[]>('SELECT own_deployment_id() AS id');
    expect(other!.id).not.toBe(made);
  });

  it('can be given before the first start, also by several processes at once', async () => {
    expect(await Promise.all([keep('ours'), keep('ours')])).toEqual(['ours', 'ours']);
    expect(await keep()).toBe('ours');
  });

  it('is not replaced by another one that is given later, until an operator adopts that', async () => {
    const made = await keep();
    await expect(keep('production')).rejects.toThrow(`DEPLOYMENT_ID must be ${made}`);
    expect(await keep()).toBe(made);
    await new DeploymentIdStore().adopt(database.autocommit, 'production');
    expect(await keep('production')).toBe('production');
  });
});

describe('The id of a rule', () => {
  const database = ownDatabase(2);
  const isIssued = async (id: string): Promise<boolean> => {
    const [answer] = await database.autocommit.query<{ is: boolean }[]>(
      'SELECT is_issued_rule_id($1) AS is',
      [id],
    );
    return answer!.is;
  };

  it('shows whether this database has issued it', async () => {
    const [made] = await database.autocommit.query<{ id: string }[]>('SELECT issue_rule_id() AS id');
    expect(made!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await isIssued(made!.id)).toBe(true);
    expect(await isIssued(made!.id.toUpperCase())).toBe(true);
    expect(await isIssued(randomUUID())).toBe(false);
    // of a provider that has no mark for each rule
    expect(await isIssued('rule_drawbridge')).toBe(true);
  });
});
