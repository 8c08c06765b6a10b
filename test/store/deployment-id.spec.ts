import { DeploymentId } from '#connections';
import { DeploymentIdStore } from '#engine-store';
import { ownDatabase } from '../builders/own-database';

describe('The id of an installation', () => {
  const database = ownDatabase(2);
  const keep = async (given?: string): Promise<string> =>
    (await DeploymentId.keep(database.autocommit, given)).value;

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
